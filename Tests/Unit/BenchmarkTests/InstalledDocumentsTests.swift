import Foundation
import OtaflashConsole
import Testing

@Suite struct InstalledDocumentsTests {
  @Test func aDocumentIsNamedByItsInstalledPath() throws {
    let prefix = FileManager.default.temporaryDirectory.path + "/documents-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: prefix) }
    let folder = prefix + "/share/doc/otaflash"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for name in ["fleet.md", "your-device.md.gz"] {
      try Data().write(to: URL(filePath: folder + "/" + name))
    }
    let text = "See docs/fleet.md, docs/your-device.md. But docs/delta.md is missing."
    #expect(
      InstalledDocuments.located(in: text, for: prefix + "/bin/otaflash")
        == "See \(folder)/fleet.md, \(folder)/your-device.md.gz. But docs/delta.md is missing.")
  }

  @Test(arguments: ["/work/.build/release/otaflash", "otaflash", "/", "/bin/otaflash", nil])
  func aProgramWithoutInstalledDocumentsNamesTheProject(_ program: String?) {
    #expect(InstalledDocuments.located(in: "see docs/x.md", for: program) == "see docs/x.md")
  }
}
