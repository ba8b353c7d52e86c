import OtaflashFirmware
import Testing

@Suite("Manifests of packages")
struct ManifestTests {
  private static func fault(
    manifest: String, files: [(String, [UInt8])] = []
  ) -> FirmwareFault? {
    fault(StoredZip([("manifest.json", Array(manifest.utf8))] + files).bytes)
  }

  private static func fault(_ bytes: [UInt8]) -> FirmwareFault? {
    do throws(FirmwareFault) {
      _ = try FirmwarePackage.decode(name: "a.zip", bytes: bytes)
      return nil
    } catch {
      return error
    }
  }

  private static func line(_ manifest: String) -> Int? {
    guard case .manifest(.notJSON(let line, _)) = fault(manifest: manifest) else { return nil }
    return line
  }

  @Test("a Device Manager package contains images with their locations")
  func deviceManager() throws {
    let package = try Fixture.package("DeviceManager/two-images.zip")
    #expect(package.kind == .deviceManager)
    #expect(package.parts.map(\.name) == ["app.signed.bin", "net.signed.bin"])
    #expect(package.parts.map(\.place.imageIndex) == [0, 1])
    #expect(package.parts.map(\.place.slot) == [nil, nil])
    #expect(package.parts.allSatisfy { $0.version == FirmwareVersion(1, 2, 3) })
    let key = try Fixture.key("MCUboot/ed25519")
    #expect(throws: Never.self) { try package.checkSignatures(by: key) }
    let one = try Fixture.package("DeviceManager/one-image.zip")
    #expect(try one.onlyImage().bytes == Fixture.bytes("MCUboot/ed25519.bin"))
  }

  /// nRF Connect SDK uses this format for the nRF54H20.
  @Test(
    "a package of SUIT envelopes is reported as a SUIT package",
    arguments: [
      "{\"type\": \"suit-envelope\", \"image\": \"app.suit\", \"file\": \"root.suit\"}",
      "{\"file\": \"root.suit\", \"size\": \"3\"}",
      "{\"type\": \"suit-cache-raw\", \"partition\": \"1\", \"file\": \"dfu_cache.bin\"}",
    ])
  func suit(file: String) throws {
    let fault = Self.fault(
      manifest: "{\"format-version\": 1, \"files\": [\(file)]}",
      files: [("root.suit", [1, 2, 3]), ("dfu_cache.bin", [1])])
    #expect(fault == .manifest(.suit))
    #expect("\(try #require(fault))".contains("SUIT (nRF54H), which is not supported"))
  }

  @Test("a manifest must match its images")
  func deviceManagerContradictions() throws {
    let image = try Fixture.bytes("MCUboot/ed25519.bin")
    func fault(_ fields: String, _ bytes: [UInt8]? = nil) -> FirmwareFault? {
      Self.fault(
        manifest: "{\"files\": [{\"file\": \"a.bin\", \(fields)}]}",
        files: [("a.bin", bytes ?? image)])
    }
    #expect(fault("\"size\": \(image.count)") == nil)
    #expect(fault("\"image_index\": \"15\", \"slot\": 1") == nil)
    #expect(
      fault("\"size\": 5")
        == .manifest(
          .contradicted(file: "a.bin", "5 bytes and \(image.count) bytes")))
    #expect(
      fault("\"version_MCUBOOT\": \"1.2.3+5\"")
        == .manifest(.contradicted(file: "a.bin", "version 1.2.3+5 and version 1.2.3+4")))
    #expect(
      fault("\"size\": 3", [1, 2, 3])
        == .manifest(.contradicted(file: "a.bin", "it is not an MCUboot image")))
    #expect(
      fault("\"image_index\": \"16\"")
        == .manifest(.key(path: "files[0].image_index", wanted: "a number in its range")))
    #expect(
      fault("\"slot\": -1")
        == .manifest(.key(path: "files[0].slot", wanted: "a number in its range")))
    #expect(
      fault("\"size\": 476", Array(image.prefix(40)))
        == .inFile("a.bin", .mcuboot(.bodyBeyondEnd(needed: 332, found: 40))))
    #expect(
      Self.fault(
        manifest: "{\"files\": [{\"file\": \"a.bin\"}, {\"file\": \"b.bin\"}]}",
        files: [("a.bin", image), ("b.bin", image)])
        == .manifest(
          .combination("'b.bin' is for the same image and slot as another file")))
    #expect(
      Self.fault(manifest: "{\"files\": [{\"file\": \"../a\"}]}")
        == .manifest(.fileMissing("../a")))
    #expect(Self.fault(manifest: "{\"files\": []}") != nil)
    #expect(Self.fault(manifest: "{\"files\": {}}") != nil)
    #expect(Self.fault(manifest: "{}") == .manifest(.unknownKind))
    #expect(Self.fault(StoredZip([("a", [1])]).bytes) == .manifest(.missing))
  }

  @Test("Nordic manifests must contain consistent files")
  func nordic() {
    #expect(
      Self.fault(manifest: "{\"manifest\": {}}")
        == .manifest(.combination("it contains no firmware")))
    #expect(
      Self.fault(manifest: "{\"manifest\": {\"application\": {\"bin_file\": 1}}}")
        == .manifest(.key(path: "manifest.application.bin_file", wanted: "a file name")))
    let part = "{\"bin_file\": \"a\", \"dat_file\": \"b\"}"
    #expect(
      Self.fault(manifest: "{\"manifest\": {\"softdevice\": \(part), \"bootloader\": \(part)}}")
        == .manifest(
          .combination("SoftDevice and bootloader of one package must be in one file")))
    #expect(
      Self.fault(manifest: "{\"manifest\": {\"application\": \(part)}}")
        == .manifest(.fileMissing("a")))
  }

  @Test("JSON is parsed strictly, with the line of the error")
  func json() {
    #expect(Self.fault(manifest: "\u{FEFF}{ }") == .manifest(.unknownKind))
    #expect(
      Self.fault(
        manifest:
          #"{"a": [1, 0, -0, 10, -2.5e3, 1E+9, 1e-9, 0x1F, 0XaB, true, null, "\u00e9\ud83d\ude00\n"]}"#
      )
        == .manifest(.unknownKind))
    for (text, line) in [
      ("", 1), ("{", 1), ("{\n\"a\": 1\n", 3), ("{\"a\" 1}", 1), ("{\"a\":\n}", 2),
      ("{\"a\": 01}", 1), ("{\"a\": 0x}", 1), ("{\"a\": 0x11111111111111111}", 1),
      ("{\"a\": +1}", 1), ("{\"a\": 1.}", 1), ("{\"a\": .5}", 1), ("{\"a\": 1e}", 1),
      ("{\"a\": -}", 1), ("{\"a\": 1-1}", 1), ("{\"a\": 0xG}", 1), ("{\"a\": tru}", 1),
      ("{a: 1}", 1),
      ("{\"a\": 1,}", 1), ("[1,]", 1), ("{} x", 1), ("{\"a\": \"\n\"}", 1), ("{\"a\": \"\\x\"}", 1),
      ("{\"a\": \"\\ud800\"}", 1), ("{\"a\": \"\\udc00\"}", 1), ("{\"a\": \"\\u12g4\"}", 1),
      ("{\"a\": \"", 1), ("\n\n{\"a\": 1, \"a\": 2}", 3),
      (String(repeating: "[", count: 17), 1), (String(repeating: "[", count: 60_000), 1),
    ] { #expect(Self.line(text) == line, "\(text.prefix(40))") }
    #expect(
      Self.fault(manifest: String(repeating: " ", count: 65_537))
        == .manifest(.tooLarge(limit: 65_536)))
    #expect(
      Self.fault(StoredZip([("manifest.json", [0x7B, 0x22, 0xFF, 0x22])]).bytes)
        == .manifest(.notJSON(line: 1, "a string that is not UTF-8")))
  }
}
