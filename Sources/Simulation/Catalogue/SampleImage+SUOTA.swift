extension SampleImage {
  /// Returns an image for a chip of Renesas, which the simulated devices with SUOTA accept.
  ///
  /// - Parameters:
  ///   - code: the bytes of the application, one or more.
  ///   - version: the version in the header, at most 16 bytes.
  ///   - timestamp: the time of the build in seconds since 1970. A DA1453x refuses an image whose
  ///     version and time are those of the image in the bank.
  ///   - settings: the settings of the device, which determine the header.
  public static func suota(
    _ code: [UInt8], version: String, timestamp: UInt32 = 1_750_000_000,
    settings: SUOTASettings = SUOTASettings()
  ) -> [UInt8] {
    SUOTASample.image(code, for: settings.chip, version: version, timestamp: timestamp)
  }
}
