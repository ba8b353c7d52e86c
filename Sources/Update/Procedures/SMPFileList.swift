import OtaflashGATT
import OtaflashWire

/// Lists a directory of a device. SMP's file group has no such command, so the list is the output
/// of the shell command `fs ls` (group 9).
public struct SMPFileList: Sendable {
  /// An entry of a directory.
  public struct Entry: Equatable, Sendable {
    /// The name without the path.
    public let name: String
    /// Whether the entry is a directory.
    public let isDirectory: Bool
    /// The length of a file in bytes; `nil` for a directory, for an entry after the first 100, or
    /// if the device refused to report the length of this file or of an earlier file in the list.
    public var size: Int?
  }

  /// The number of entries, from the first, whose lengths are requested.
  private static let sizesMaximum = 100
  /// The output of Zephyr's shell for an unknown command.
  private static let notFound = "command not found"

  /// The absolute path of the directory.
  public let path: String

  /// Creates a list of the directory at `path`.
  public init(_ path: String = "/") { self.path = path }

  /// The list as a command for a peripheral's queue.
  ///
  /// The command fails with `.declined` if the device has no shell or no such directory.
  public var command: Command<PeripheralTurn, [Entry], UpdateFault> {
    Command("list") { (turn) async throws(UpdateFault) -> [Entry] in
      defer { turn.disconnect() }
      let channel = try await SMPChannel(openedIn: turn)
      var entries = try await list(over: channel)
      for index in entries.indices.prefix(Self.sizesMaximum) where !entries[index].isDirectory {
        let file = (path.hasSuffix("/") ? path : path + "/") + entries[index].name
        let status = try await channel.ask(SMPFiles.Status(name: file), .request)
        guard case .success(let found) = status else { break }
        entries[index].size = found.length
      }
      return entries
    }
  }

  /// Reads the list over a new link.
  public func run(on dialer: Dialer, clock: any LinkClock) async throws(UpdateFault) -> [Entry] {
    try await command.run(on: dialer, clock: clock)
  }

  private func list(over channel: SMPChannel) async throws(UpdateFault) -> [Entry] {
    let shell = ShellSession(over: channel)
    switch try await shell.run(["fs", "ls", path]) {
    case .success(let output):
      guard output.code == 0 else {
        throw .declined(
          .request,
          output.text.contains(Self.notFound)
            ? .missing("CONFIG_FILE_SYSTEM_SHELL", code: "ret \(output.code)")
            : .noDirectory(output))
      }
      return Self.entries(in: output.text)
    case .failure(let refusal) where refusal.isNotSupported:
      throw .declined(.request, .noShell(code: refusal.inWords.code))
    case .failure(let refusal): throw .declined(.request, refusal.inWords)
    }
  }

  /// Returns the entries in the output of `fs ls`, one in each line; a directory ends with `/`.
  static func entries(in text: String) -> [Entry] {
    text.split(whereSeparator: \.isNewline).compactMap { line in
      let name = String(line.drop(while: \.isWhitespace))
      guard !name.isEmpty, name != "/" else { return nil }
      return name.hasSuffix("/")
        ? Entry(name: String(name.dropLast()), isDirectory: true)
        : Entry(name: name, isDirectory: false)
    }
  }
}

extension ProtocolRefusal {
  fileprivate static func noShell(code: String?) -> ProtocolRefusal {
    ProtocolRefusal(
      code: code, meaning: "it has no shell, and only a shell can list files",
      advice: "The firmware must be built with CONFIG_MCUMGR_GRP_SHELL and "
        + "CONFIG_FILE_SYSTEM_SHELL. Files with a known path can be read and written without a "
        + "shell.", kind: .unsuitable)
  }

  fileprivate static func noDirectory(_ output: ShellSession.Output) -> ProtocolRefusal {
    let text = output.text.split(whereSeparator: \.isNewline).first.map { ": '\($0)'" } ?? ""
    return ProtocolRefusal(
      code: "ret \(output.code)", meaning: "its shell cannot list the path" + text,
      advice: "Check the path: it is absolute, and starts with a mount point such as /lfs1.",
      kind: .unsuitable)
  }
}
