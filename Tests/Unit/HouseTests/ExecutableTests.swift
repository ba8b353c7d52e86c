import Testing

/// Tests that the executable is thin: it contains the subcommands, the list of subcommands, and the
/// start of the program. Code that an app could use is in a separate target.
@Suite struct ExecutableTests {
  static let linesMaximum = 4800
  static let fileMaximum = 250
  static let conditionalFilesMaximum = 1

  static func files() throws -> [(path: String, text: String)] {
    try ImportTests.files(of: "Sources/otaflash")
  }

  @Test func itStaysSmall() throws {
    let lines = try Self.files().map { $0.text.count { $0 == "\n" } }
    #expect(lines.count > 20)
    #expect(lines.reduce(0, +) <= Self.linesMaximum)
  }

  /// The limit also applies to the targets that contain the subcommands of `fleet`, and the code
  /// that these subcommands run.
  @Test(arguments: ["otaflash", "FleetHost", "FleetCommands"])
  func noFileIsLong(_ target: String) throws {
    for file in try ImportTests.files(of: "Sources/\(target)") {
      let lines = file.text.count { $0 == "\n" }
      #expect(lines <= Self.fileMaximum, "\(file.path) has \(lines) lines")
    }
  }

  @Test func fewFilesKnowWhetherThereAreCampaigns() throws {
    let files = try Self.files().filter { $0.text.contains("#if Fleet") }.map(\.path)
    #expect(files.count <= Self.conditionalFilesMaximum, "\(files)")
  }
}
