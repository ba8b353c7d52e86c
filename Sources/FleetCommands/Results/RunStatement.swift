#if Fleet
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetHooks
import OtaflashFleetHost

/// The head of a run's chain as a small text file to sign.
struct RunStatement: Sendable {
  /// The first line of every statement file.
  static let firstLine = "otaflash run head 1\n"
  /// The namespace of the signature (`ssh-keygen -Y sign -n`); verification fails for other
  /// namespaces.
  private static let namespace = "otaflash-run"
  /// The time limit for typing a passphrase, or touching a hardware key.
  private static let patience = Duration.seconds(120)
  /// The maximum size of a signature, in bytes. A signature has a few hundred bytes.
  private static let signatureLimit = 1 << 16
  /// The number of bytes of a key file that identify its kind.
  private static let headLimit = 64

  let text: String
  private let trustedComment: String

  init(run: String, events: Int, head: String) {
    text = Self.firstLine + "run \(run)\nevents \(events)\nhead \(head)\n"
    trustedComment = "run \(run) events \(events) head \(head)"
  }

  /// The tool for a kind of key file.
  enum Tool: Sendable, Equatable {
    /// OpenSSH's ssh-keygen(1), for a private key, or for a public key whose private key is in an
    /// agent.
    case ssh
    /// minisign(1).
    case minisign

    /// - Parameter head: the start of the key file.
    init?(head: String) {
      if head.hasPrefix("untrusted comment:") {
        self = .minisign
      } else if ["-----BEGIN ", "ssh-", "ecdsa-", "sk-"].contains(where: head.hasPrefix) {
        self = .ssh
      } else {
        return nil
      }
    }

    /// The suffix of the signature file, as defined by the tool.
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
      throw .fleet(.signing(key: key, words: "it is neither an SSH key nor a minisign key"))
    }
    return tool
  }

  /// Signs the text with the tool.
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
