import Glibc
import OtaflashBlueZ
import OtaflashConsole

/// The questions of a pairing at a terminal, or in a script: `echo 123456 | otaflash pair …`.
package struct PairingDialogue: Sendable {
  private static let pollInterval = Duration.milliseconds(50)
  /// The maximum length of a line: longer than any answer of a user.
  private static let lineMaximum = 64
  private static let passkeyDigits = 6

  package let session: Session

  package var user: PairingUser {
    guard canAsk else { return .unattended }
    return PairingUser(
      capability: .keyboardDisplay, confirm: { await confirm($0) },
      passkey: { await passkey(of: $0) },
      show: { device, passkey in
        session.console.prompt(
          "type \(Self.digits(passkey)) at \(device)", breaksLine: true)
        session.console.event(
          "passkey", ["device": .string("\(device)"), "passkey": .string(Self.digits(passkey))])
      })
  }

  package static func digits(_ passkey: UInt32) -> String {
    Text.padded(String(passkey), passkeyDigits)
  }

  /// Returns the passkey in a line of input; `nil` if it is not a passkey.
  package static func passkey(in line: String) -> UInt32? {
    let digits = line.filter { !" \t".contains($0) }
    guard digits.count == passkeyDigits, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else {
      return nil
    }
    return UInt32(digits)
  }

  /// Whether the user or a script can answer: standard input is a terminal, or a pipe, a socket or
  /// a file with the answers. Standard input must not be the image, or /dev/null, which background
  /// jobs have.
  private var canAsk: Bool {
    guard !session.global.noInput, session.context.subject.image != "-" else { return false }
    var status = stat()
    guard fstat(STDIN_FILENO, &status) == 0 else { return false }
    return isatty(STDIN_FILENO) == 1
      || [S_IFIFO, S_IFREG, S_IFSOCK].contains(status.st_mode & S_IFMT)
  }

  private func confirm(_ question: PairingUser.Question) async -> Bool {
    switch question {
    // A user who named the device on the command line has consented.
    case .consent: return true
    case .comparison(let device, let number):
      if session.global.yes { return true }
      prompt("does \(device) show \(Self.digits(number))? [y/N] ")
      let answer = await line()?.lowercased()
      return answer == "y" || answer == "yes"
    }
  }

  private func passkey(of device: BluetoothAddress) async -> UInt32? {
    prompt("passkey that \(device) shows: ")
    guard let line = await line() else { return nil }
    guard let passkey = Self.passkey(in: line) else {
      session.console.note("note: '\(line)' is not a passkey (\(Self.passkeyDigits) digits)")
      return nil
    }
    return passkey
  }

  /// Prints a question. If the answer comes from a pipe, a line break follows, because a pipe does
  /// not echo the line break that a user would type.
  private func prompt(_ text: String) {
    session.console.prompt(text, breaksLine: isatty(STDIN_FILENO) != 1)
  }

  /// Reads a line of standard input without blocking the thread of the links; `nil` if the input
  /// ends without further text, or when the task is cancelled.
  private func line() async -> String? {
    var bytes: [UInt8] = []
    while bytes.count < Self.lineMaximum {
      var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, 0) != 0 else {
        guard await Pause.sleep(for: Self.pollInterval) else { return nil }
        continue
      }
      var byte: UInt8 = 0
      guard read(STDIN_FILENO, &byte, 1) == 1 else { break }
      if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }
}
