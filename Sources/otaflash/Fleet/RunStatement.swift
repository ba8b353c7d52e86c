#if Fleet
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetHooks

/// The end of a run's chain as a small text file, for a signature.
struct RunStatement: Sendable {
  /// How every such file starts.
  static let firstLine = "otaflash run head 1\n"
  /// What the signature is for (`ssh-keygen -Y sign -n`): it is not valid for anything else.
  private static let namespace = "otaflash-run"
  /// Time in which a passphrase can be typed, or a key that needs a touch be touched.
  private static let patience = Duration.seconds(120)
  /// In bytes; a signature has a few hundred.
  private static let signatureLimit = 1 << 16
  /// In bytes, of a key file: what shows its kind.
  private static let headLimit = 64

  let text: String
  private let trustedComment: String

  init(run: String, events: Int, head: String) {
    text = Self.firstLine + "run \(run)\nevents \(events)\nhead \(head)\n"
    trustedComment = "run \(run) events \(events) head \(head)"
  }

  /// The tool that a key file belongs to.
  enum Tool: Sendable, Equatable {
    /// OpenSSH's ssh-keygen(1): a private key, or a public one whose private key an agent holds.
    case ssh
    /// minisign(1)
    case minisign

    /// - Parameter head: how the key file starts.
    init?(head: String) {
      if head.hasPrefix("untrusted comment:") {
        self = .minisign
      } else if ["-----BEGIN ", "ssh-", "ecdsa-", "sk-"].contains(where: head.hasPrefix) {
        self = .ssh
      } else {
        return nil
      }
    }

    /// Of the file with the signature, as the tool itself names it.
    var suffix: String { self == .ssh ? ".sig" : ".minisig" }

    fileprivate func words(
      key: String, file: String, _ trustedComment: String
    ) -> [String] {
      switch self {
      case .ssh: ["ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", key, file]
      case .minisign: ["minisign", "-S", "-s", key, "-m", file, "-t", trustedComment]
      }
    }
  }

  static func tool(for key: String) throws(CommandFault) -> Tool {
    let head: [UInt8]
    do throws(FileFault) {
      head = try InputFile(path: key, limit: headLimit).read()
    } catch {
      throw .keyFile(.file(error))
    }
    guard let tool = Tool(head: String(decoding: head, as: UTF8.self)) else {
      throw .fleet(.signing(key: key, words: "it is neither a key of ssh nor of minisign"))
    }
    return tool
  }

  /// Has the text signed by the tool.
  ///
  /// - Returns: the content of the signature file.
  func signature(
    by tool: Tool, key: String, in session: Session
  ) async throws(CommandFault) -> [UInt8] {
    let folder: TemporaryFolder
    do throws(FileFault) { folder = try TemporaryFolder(environment: session.environment) } catch {
      throw .fleet(.file(error))
    }
    let file = folder.path + "/head"
    let copy = OutputFile(path: file, kind: .head, option: "--head")
    do throws(OutputFileFault) {
      try copy.write(Array(text.utf8), avoiding: session.inputs)
    } catch {
      throw .outputFile(copy, error)
    }
    let words = tool.words(key: key, file: file, trustedComment)
    let end = await ForegroundProgram(words, timeLimit: Self.patience)
      .run(mayAsk: !session.global.noInput)
    guard end == .exited(code: 0) else {
      if end == .interrupted { throw .stopped }
      throw .fleet(.signing(key: key, words: "\(words[0]) \(HookOutcome(end).words)"))
    }
    do throws(FileFault) {
      return try InputFile(path: file + tool.suffix, limit: Self.signatureLimit).read()
    } catch {
      throw .fleet(.file(error))
    }
  }
}
#endif
