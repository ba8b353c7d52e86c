import OtaflashFirmware
import OtaflashTestSupport
import Testing

@Suite struct InstallerContentTests {
  private static let loader: [UInt8] = Array(0..<200)

  /// Returns a file with a header of 32 bytes, the body, one protected entry, and no hash.
  private static func file(_ body: [UInt8], entry: [UInt8]) -> [UInt8] {
    [UInt8](hex: "3db8f396 00000000 2000 0900 00000000 00000000 01 02 0300 04000000 00000000")
      .littleEndian(UInt32(body.count), at: 12)
      + body + [0x08, 0x69, 9, 0] + entry + [0x07, 0x69, 4, 0]
  }

  private func installer(
    _ body: [UInt8], entry: [UInt8] = [0xA0, 0, 1, 0, 1]
  ) throws -> InstallerContent? {
    try FirmwarePackage.decode(name: "a.bin", bytes: Self.file(body, entry: entry)).onlyImage()
      .installer
  }

  private static let body =
    [0x92, 0x11, 1, 2, 0x92] + installerTable([(1, [7, 8, 9]), (2, loader)])

  @Test func theTableIsFoundInTheBody() throws {
    let content = try #require(try installer(Self.body))
    #expect(content.parts.map(\.kind) == [.softDevice, .firmwareLoader])
    #expect(content.parts.map(\.size) == [3, 200])
    #expect(content.parts.map(\.address) == [0x1000, 0x2000])
    #expect(content.firmwareLoader?.hash == nil, "these bytes are not an MCUboot image")
  }

  @Test func theHashOfTheLoaderIsTheHashOfItsImage() throws {
    let image = try Fixture.bytes("MCUboot/ed25519.bin")
    let content = try #require(try installer(installerTable([(2, image)])))
    #expect(content.firmwareLoader?.hash == (try MCUbootImage(decoding: image).hash))
  }

  /// Other vendors may use the same number for other purposes.
  @Test func anImageWithoutTheEntryOrTheTableIsNoInstaller() throws {
    #expect(try installer(Self.body, entry: [0xA0, 0, 1, 0, 2]) == nil)
    #expect(try installer(Self.body, entry: [0xA1, 0, 1, 0, 1]) == nil)
    #expect(try installer([1, 2, 3]) == nil)
    for index in 5..<Self.body.count {
      var damaged = Self.body
      damaged[index] ^= 1
      #expect(try installer(damaged) == nil, "byte \(index)")
    }
    for size in 0..<Self.body.count { #expect(try installer(Array(Self.body[..<size])) == nil) }
  }

  @Test("an installer and an application may share a location; the installer is first")
  func package() throws {
    let application = try Fixture.bytes("MCUboot/ed25519.bin")
    let first = Self.file(Self.body, entry: [0xA0, 0, 1, 0, 1])
    func package(_ files: [(String, [UInt8])]) throws(FirmwareFault) -> FirmwarePackage {
      let names = files.map { "{\"file\": \"\($0.0)\"}" }.joined(separator: ", ")
      let manifest = ("manifest.json", Array("{\"files\": [\(names)]}".utf8))
      return try .decode(name: "dfu.zip", bytes: StoredZip([manifest] + files).bytes)
    }
    let files = [("app.bin", application), ("installer.bin", first)]
    #expect(try package(files).parts.map(\.name) == ["installer.bin", "app.bin"])
    #expect(throws: FirmwareFault.self) { try package(files + [("b.bin", first)]) }
    #expect(throws: FirmwareFault.self) { try package(files + [("b.bin", application)]) }
  }
}
