import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashUpdate

struct FilesPut: TargetedCommand {
  static let words = "files put"
  static let takesSimulatedAir = true
  static let configuration = CommandConfiguration(
    commandName: "put",
    abstract: "Write a file to a device.",
    discussion: """
      To resume an interrupted transfer, run the same command again: if the checksum of the part \
      on the device is correct, only the rest is sent. A file that the device has already is not \
      sent again. An existing file with other content is replaced.
      """)

  /// The maximum size of a file in bytes.
  private static let sizeMaximum = 64 * 1024 * 1024

  @Argument(help: "The file to send.", completion: .file())
  var local: String

  @Argument(help: "The absolute path on the device.", transform: DevicePath.parse)
  var remote: String

  @Flag(name: .long, help: "Send the complete file, even if the device has it or a part of it.")
  var force = false

  @OptionGroup var transfer: FileTransferOptions
  @OptionGroup var target: DeviceOption
  @OptionGroup var link: LinkOptions
  @OptionGroup var capture: CaptureOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: target.device.text) }
  var captureFile: OutputFile? { capture.file }
  var inputFiles: [String] { [local] }

  func validate() throws { try target.device.check(link) }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let bytes: [UInt8]
    do throws(FileFault) {
      bytes = try InputFile(path: local, limit: Self.sizeMaximum).readComplete()
    } catch {
      throw .file(error)
    }
    let put = SMPFilePut(bytes, to: remote, sendsAnyway: force, options: transfer.options) {
      session.updates.observe($0)
    }
    let outcome = try await target.device.exchange(in: session, isExclusive: true, link: link) {
      (dialer, clock) async throws(UpdateFault) in try await put.run(on: dialer, clock: clock)
    }
    let word = outcome.wasThere ? "present" : "sent"
    session.console.event(
      "file",
      [
        "outcome": .string(word), "path": .string(remote), "bytes": .integer(bytes.count),
        "evidence": .string(outcome.evidence.name),
        "resumed_from": .integer(outcome.wasThere ? nil : outcome.resumedFrom),
        "bytes_sent": .integer(outcome.bytesSent), "connections": .integer(outcome.connections),
        "ms": .integer(outcome.took.inMilliseconds),
      ])
    session.console.result(sentence(for: outcome, bytes.count))
    return target.device.ending(word)
  }

  private func sentence(for outcome: SMPFilePut.Outcome, _ size: Int) -> String {
    let bytes = Text.grouped(size) + " B"
    guard !outcome.wasThere else {
      return "\(remote) is already there: \(bytes), \(outcome.evidence.words)"
    }
    let resumed =
      outcome.resumedFrom > 0 ? ", resumed from \(Text.grouped(outcome.resumedFrom))" : ""
    return "\(remote): \(bytes) sent in \(Text.seconds(outcome.took))\(resumed); "
      + outcome.evidence.words
  }
}
