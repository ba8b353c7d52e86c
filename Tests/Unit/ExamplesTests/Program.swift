import Foundation

/// A program of this package, in the build folder of the tests.
struct Program {
  struct Run: Equatable {
    let lines: [String]
    let status: Int32
  }

  let name: String

  /// Runs the program to its end and returns its output.
  func run() throws -> Run {
    let process = Process()
    let output = Pipe()
    process.executableURL = Self.buildFolder.appending(component: name)
    process.standardOutput = output
    try process.run()
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let text = String(decoding: bytes, as: UTF8.self)
    return Run(
      lines: text.split(separator: "\n").map(String.init), status: process.terminationStatus)
  }

  /// On Linux the test bundle is an executable in the folder of the products; elsewhere it is a
  /// folder inside that folder.
  private static let buildFolder: URL = {
    #if os(Linux)
    URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    #else
    Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
      .deletingLastPathComponent() ?? Bundle.main.bundleURL
    #endif
  }()
}
