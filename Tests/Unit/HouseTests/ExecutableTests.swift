import Foundation
import Testing

/// Tests that the executable is thin: it contains one file for each subcommand, the table of
/// errors, and the process. Code that an app could use is in a separate target.
@Suite struct ExecutableTests {
  static let linesMaximum = 5000
  static let fileMaximum = 250
  static let conditionalFilesMaximum = 3
  /// Folders that will become targets; the limits do not count them.
  static let moving = ["Sources/otaflash/Fleet/", "Sources/otaflash/FleetCommands/"]

  static func files() throws -> [(path: String, text: String)] {
    try ImportTests.files(of: "Sources/otaflash").filter { file in
      !moving.contains { file.path.hasPrefix($0) }
    }
  }

  @Test func itStaysSmall() throws {
    let lines = try Self.files().map { $0.text.count { $0 == "\n" } }
    #expect(lines.count > 20)
    #expect(lines.reduce(0, +) <= Self.linesMaximum)
  }

  @Test func noFileIsLong() throws {
    for file in try Self.files() {
      let lines = file.text.count { $0 == "\n" }
      #expect(lines <= Self.fileMaximum, "\(file.path) has \(lines) lines")
    }
  }

  @Test func fewFilesKnowWhetherThereAreCampaigns() throws {
    let files = try Self.files().filter { $0.text.contains("#if Fleet") }.map(\.path)
    #expect(files.count <= Self.conditionalFilesMaximum, "\(files)")
  }

  @Test func movingFoldersAreThere() {
    for folder in Self.moving {
      let path = ImportTests.root.appending(path: folder).path
      #expect(FileManager.default.fileExists(atPath: path), "\(folder) needs no exception any more")
    }
  }
}
