extension SampleImage {
  /// Returns an application image of ESP-IDF with a checksum and a SHA-256.
  ///
  /// - Parameters:
  ///   - body: the content of the second segment; the image is 332 to 347 bytes longer.
  ///   - version: the version text of the application, at most 31 bytes.
  ///   - project: the name of the project, at most 31 bytes.
  ///   - chip: the id of the chip; 5 is the ESP32-C3.
  public static func espressif(
    _ body: [UInt8], version: String, project: String = "sample", chip: UInt16 = 5
  ) -> [UInt8] {
    EspressifImage.make(body, version: version, project: project, chip: chip)
  }
}
