import OtaflashFirmware
import Testing

@Suite("packages of resources")
struct ResourcePackageTests {
  private static let content: [UInt8] = [1, 2, 3]

  private static func archive(
    _ list: String, files: [(String, [UInt8])] = [("teko.bin", content), ("logo.bin", [9])]
  ) -> [UInt8] {
    StoredZip([("resources.json", Array(list.utf8))] + files).bytes
  }

  private static func list(path: String, name: String = "teko.bin", more: String = "") -> String {
    #"{"resources": [{"filename": "\#(name)", "path": "\#(path)"}\#(more)], "obsolete_files": {}}"#
  }

  private static func fault(_ bytes: [UInt8]) -> FirmwareFault? {
    do throws(FirmwareFault) {
      _ = try ResourcePackage.decode(name: "r.zip", bytes: bytes)
      return nil
    } catch {
      return error
    }
  }

  @Test("the list of a release is read, with its obsolete files")
  func release() throws {
    let bytes = Self.archive(
      """
      {
          "resources": [
              {"filename": "teko.bin", "path": "/fonts/teko.bin"},
              {"filename": "logo.bin", "path": "/images/logo.bin"}
          ],
          "obsolete_files": [{"path": "/example-of-obsolete-file.bin", "since": "1.11.0"}]
      }
      """)
    let package = try ResourcePackage.decode(name: "r.zip", bytes: bytes)
    #expect(package.files.map(\.path) == ["/fonts/teko.bin", "/images/logo.bin"])
    #expect(package.files[0].bytes == Self.content && package.size == 4)
    #expect(
      package.obsoleteFiles == [
        .init(path: "/example-of-obsolete-file.bin", since: FirmwareVersion(1, 11, 0))
      ])
    #expect(ResourcePackage.recognizes(bytes))
  }

  @Test("firmware, other archives and other files are not packages of resources")
  func recognition() {
    let both = StoredZip([("resources.json", [0x7B]), ("manifest.json", [0x7B])])
    #expect(!ResourcePackage.recognizes(both.bytes))
    #expect(!ResourcePackage.recognizes(StoredZip([("a", [1])]).bytes))
    #expect(!ResourcePackage.recognizes(Array("PK".utf8)))
    #expect(Self.fault(StoredZip([("a", [1])]).bytes) == .resources(.listMissing))
    #expect(Self.fault([]) == .empty)
    #expect(Self.fault([1, 2, 3]) == .zip(.notAnArchive))
  }

  @Test(
    "paths that leave the file system, or that the watch cannot store, are refused",
    arguments: [
      "/../settings.dat", "/fonts/../a", "fonts/a", "", "/", "//a", "/a/", "/./a", "/a\\u0000b",
      "/" + String(repeating: "x", count: 51), "/" + String(repeating: "x/", count: 80) + "y",
    ])
  func paths(_ path: String) {
    guard case .resources(.pathNotAllowed)? = Self.fault(Self.archive(Self.list(path: path))) else {
      Issue.record("\(path)")
      return
    }
  }

  @Test("every error of the list is reported")
  func errors() {
    let again = #", {"filename": "logo.bin", "path": "/a"}"#
    let folder = #", {"filename": "logo.bin", "path": "/a/b"}"#
    let cases: [(String, ResourceFault)] = [
      (Self.list(path: "/a", name: "none.bin"), .fileMissing("none.bin")),
      (Self.list(path: "/a", more: again), .pathRepeated("/a")),
      (Self.list(path: "/a", more: folder), .pathRepeated("/a")),
      (#"{"resources": []}"#, .key(path: "resources", wanted: "a list of files")),
      ("[]", .key(path: "resources", wanted: "a list of files")),
      (
        #"{"resources": [{"path": "/a"}]}"#,
        .key(path: "resources[0].filename", wanted: "a file name")
      ),
      (
        #"{"resources": [{"filename": "teko.bin"}]}"#,
        .key(path: "resources[0].path", wanted: "a path on the device")
      ),
      (
        #"{"resources": [{"filename": "teko.bin", "path": "/a"}], "obsolete_files": [{}]}"#,
        .key(path: "obsolete_files[0].path", wanted: "a path on the device")
      ),
      (
        #"{"resources": [{"filename": "teko.bin", "path": "/a"}], "#
          + #""obsolete_files": [{"path": "/a"}]}"#, .pathRepeated("/a")
      ),
      (
        #"{"resources": [{"filename": "teko.bin", "path": "/a"}], "#
          + #""obsolete_files": [{"path": "/b", "since": "soon"}]}"#,
        .key(path: "obsolete_files[0].since", wanted: "a version such as 1.11.0")
      ),
      ("{\n\"resources\": [}", .notJSON(line: 2, "'}' is not a value")),
    ]
    for (list, expected) in cases {
      let fault = Self.fault(Self.archive(list))
      if case .notJSON(let line, _) = expected, case .resources(.notJSON(line, _))? = fault {
        continue
      }
      #expect(fault == .resources(expected), "\(list)")
    }
    let empty = Self.archive(Self.list(path: "/a"), files: [("teko.bin", [])])
    #expect(Self.fault(empty) == .resources(.fileEmpty("teko.bin")))
    let huge = Self.archive(String(repeating: " ", count: 70_000))
    #expect(Self.fault(huge) == .resources(.listTooLarge(limit: 65_536)))
  }

  @Test("a truncated archive is refused at every length")
  func truncation() {
    let bytes = Self.archive(Self.list(path: "/a"))
    for count in 0..<bytes.count {
      #expect(Self.fault(Array(bytes.prefix(count))) != nil)
    }
  }
}
