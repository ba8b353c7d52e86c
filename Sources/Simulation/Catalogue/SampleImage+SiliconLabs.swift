import OtaflashFirmware

extension SampleImage {
  /// Returns a GBL file with one program tag and without a signature, which the simulated devices
  /// of Silicon Labs accept unless they require a signature.
  ///
  /// - Parameters:
  ///   - program: the bytes of the application.
  ///   - version: the version in the application tag, as a number of 8, 8 and 16 bits.
  public static func gbl(_ program: [UInt8], version: FirmwareVersion) -> [UInt8] {
    GBLAssembly.file(program, version: version.word)
  }
}
