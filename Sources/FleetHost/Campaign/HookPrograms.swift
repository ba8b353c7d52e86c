#if Fleet
import Glibc
import OtaflashConsole
import OtaflashFleet
import OtaflashFleetFiles

/// Checks the programs of a campaign's hooks before a run starts.
struct HookPrograms {
  /// Reserved words and built-in utilities of `/bin/sh` (POSIX.1-2017, XCU 2.4, 2.14 and 2.9.1).
  private static let builtins: Set<String> = [
    ":", ".", "[", "alias", "bg", "break", "case", "cd", "command", "continue", "echo", "eval",
    "exec", "exit", "export", "false", "fc", "fg", "for", "getopts", "hash", "if", "jobs", "kill",
    "printf", "pwd", "read", "readonly", "return", "set", "shift", "test", "times", "trap", "true",
    "type", "ulimit", "umask", "unalias", "unset", "until", "wait", "while",
  ]

  private let folder: String

  /// - Parameter campaign: the path of the file; relative paths are resolved against its folder.
  init(nextTo campaign: String) { folder = OutputFile.folder(of: campaign) }

  /// Checks that the hook programs can be run. Programs whose names only a shell can determine are
  /// not checked.
  ///
  /// - Throws: the location of a hook whose program cannot be run.
  func check(_ hooks: CampaignHooks, in file: CampaignFile) throws(CampaignFileFault) {
    for point in HookPoint.allCases {
      guard let name = hooks[point].flatMap(program(of:)), let reason = obstacle(to: name)
      else { continue }
      throw file.fault(of: point, "the program of \(point.rawValue) \(reason)")
    }
  }

  /// Returns the hook programs that the campaign specifies by path, each once.
  func files(of hooks: CampaignHooks) -> [String] {
    let programs = HookPoint.allCases.compactMap { hooks[$0].flatMap(program(of:)) }
    return Set(programs.filter { $0.contains("/") }).sorted()
  }

  /// Returns the name of the program, which is the first word; `nil` if only a shell can interpret
  /// this word.
  private func program(of command: HookCommand) -> String? {
    switch command {
    case .words(let words): return words.first
    case .shell(let text):
      let word = text.prefix { !$0.isWhitespace }
      let isPlain = word.allSatisfy { character in
        character.isASCII
          && (character.isLetter || character.isNumber || "._/+-".contains(character))
      }
      guard !word.isEmpty, isPlain, !Self.builtins.contains(String(word)) else { return nil }
      return String(word)
    }
  }

  /// Returns the reason why a program cannot be run, as a clause; `nil` = it can be run.
  private func obstacle(to program: String) -> String? {
    guard program.contains("/") else {
      let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
      let isFound = folders.split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
      return isFound ? nil : "is not in PATH: \(program)"
    }
    let path = program.hasPrefix("/") ? program : folder + "/" + program
    guard access(path, F_OK) == 0 else { return "does not exist: \(path)" }
    return access(path, X_OK) == 0 ? nil : "is not executable: \(path)"
  }
}
#endif
