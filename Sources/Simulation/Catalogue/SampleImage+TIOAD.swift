import OtaflashFirmware

extension SampleImage {
  /// Returns an image that a simulated device with TI's OAD accepts: with TI's header, or an
  /// MCUboot image.
  ///
  /// - Parameters:
  ///   - body: the content after the header.
  ///   - version: the version in the header; TI's header stores numbers up to 99.99.9999 as decimal
  ///     digits.
  ///   - settings: the device, which selects the format and the chip.
  public static func oad(
    _ body: [UInt8], version: FirmwareVersion, settings: OADServerSettings
  ) -> [UInt8] {
    OADSample.image(body, version: version, settings)
  }

  /// Returns an image with TI's OAD header.
  ///
  /// - Parameters:
  ///   - body: the content after the header.
  ///   - identification: the chip or product, 8 bytes.
  ///   - type: the type of the image, such as 7 for an application with its stack.
  ///   - softwareVersion: the version, 4 bytes.
  public static func oad(
    _ body: [UInt8], identification: [UInt8], type: UInt8, softwareVersion: [UInt8]
  ) -> [UInt8] {
    precondition(identification.count == 8 && softwareVersion.count == 4)
    return OADSample.image(
      body, identification: identification, type: OADImageType(rawValue: type),
      softwareVersion: softwareVersion)
  }
}
