import OtaflashFirmware
import Testing

@Suite("ZIP archives")
struct ZipArchiveTests {
  private static let limit = 1 << 20

  private static func fault(of bytes: [UInt8]) -> ZipFault? {
    do throws(ZipFault) {
      _ = try ZipArchive(decoding: bytes, limit: limit)
      return nil
    } catch {
      return error
    }
  }

  private static func fault(of files: [StoredZip.File]) -> ZipFault? {
    fault(of: StoredZip(files).bytes)
  }

  @Test("files are unpacked unchanged, folders are ignored")
  func plain() throws {
    let archive = try ZipArchive(
      decoding: StoredZip([("folder/", []), ("folder/a.bin", [1, 2, 3]), ("b", [])]).bytes,
      limit: Self.limit)
    #expect(archive.entries.map(\.name) == ["folder/a.bin", "b"])
    #expect(archive["folder/a.bin"] == [1, 2, 3])
    #expect(archive["b"] == [])
    #expect(archive["c"] == nil)
  }

  @Test("archives that unpack to too many bytes are refused, with correct or wrong sizes")
  func bombs() throws {
    #expect(
      Self.fault(of: try Fixture.bytes("Hostile/bomb.zip"))
        == .tooLarge(name: "zeros.bin", limit: Self.limit))
    guard
      case .entryDamaged("zeros.bin", _) = Self.fault(
        of: try Fixture.bytes("Hostile/lying-bomb.zip"))
    else {
      Issue.record("the forged archive was accepted")
      return
    }
    var claimed = StoredZip.File("a", [1, 2, 3])
    claimed.size = 4000
    claimed.method = 8
    #expect(
      Self.fault(of: [claimed]) == .impossibleRatio(name: "a", size: 4000, compressedSize: 3))
    let half = [UInt8](repeating: 0, count: Self.limit / 2 + 1)
    #expect(
      Self.fault(of: [.init("a", half), .init("b", half)])
        == .tooLarge(name: "b", limit: Self.limit))
  }

  @Test(
    "names of paths outside the archive are refused",
    arguments: [
      "../a", "/etc/passwd", "a/../../b", "a//b", "./a", "..", "C:a", "a\\b", "a\u{7F}", "a\nb", "",
    ])
  func escapes(_ name: String) {
    #expect(Self.fault(of: [.init(name, [1])]) == .unsafeName(name))
  }

  @Test("a name that is not UTF-8 is refused")
  func badText() {
    var file = StoredZip.File("ab", [1])
    file.name = [0xC3, 0x28]
    guard case .unsafeName = Self.fault(of: [file]) else {
      Issue.record("it was accepted")
      return
    }
  }

  @Test("a repeated name, an encrypted file and an unknown compression are refused")
  func oddities() {
    #expect(Self.fault(of: [.init("a", [1]), .init("a", [2])]) == .nameRepeated)
    var encrypted = StoredZip.File("a", [UInt8](repeating: 0, count: 20))
    encrypted.flags = 1
    #expect(Self.fault(of: [encrypted]) == .encrypted(name: "a"))
    var unknown = StoredZip.File("a", [1])
    unknown.method = 12
    #expect(Self.fault(of: [unknown]) == .unknownCompression(name: "a", method: 12))
  }

  @Test("too many files are refused before they are read")
  func many() {
    let file = StoredZip.File("", [])
    func files(_ count: Int) -> [StoredZip.File] {
      (0..<count).map {
        var file = file
        file.name = Array("f\($0)".utf8)
        return file
      }
    }
    #expect(Self.fault(of: files(64)) == nil)
    #expect(Self.fault(of: files(65)) == .tooManyEntries(limit: 64))
    #expect(Self.fault(of: files(3000)) == .tooManyEntries(limit: 64))
  }

  @Test("contradictions within the archive are refused")
  func contradictions() {
    var renamed = StoredZip.File("a", [1, 2, 3])
    renamed.directoryName = Array("b".utf8)
    guard case .damaged = Self.fault(of: [renamed]) else {
      Issue.record("two names of one file were accepted")
      return
    }
    var wrong = StoredZip.File("a", [1, 2, 3])
    wrong.crc32 = 5
    guard case .entryDamaged("a", _) = Self.fault(of: [wrong]) else {
      Issue.record("a wrong CRC32 was accepted")
      return
    }
  }

  @Test("a truncated archive is refused")
  func truncated() throws {
    for name in ["Nordic/everything.zip", "DeviceManager/one-image.zip"] {
      let whole = try Fixture.bytes(name)
      for count in stride(from: 0, to: whole.count, by: 3) {
        #expect(Self.fault(of: Array(whole.prefix(count))) != nil, "\(name), \(count)")
      }
    }
  }
}
