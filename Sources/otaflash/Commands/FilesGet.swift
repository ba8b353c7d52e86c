import ArgumentParser
import Glibc
import OtaflashConsole
import OtaflashDevices
import OtaflashUpdate

struct FilesGet: TargetedCommand {
  static let words = "files get"
  static let takesSimulatedAir = true
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Read a file from a device.",
    discussion: """
      The file is written when it is complete and was compared with the file on the device (its \
      checksum or, if the device supports none, its length), so an interrupted transfer leaves \
      no file. An existing file is replaced only with --force.
      """)

  @Argument(help: "The absolute path on the device.", transform: DevicePath.parse)
  var remote: String

  @Argument(
    help: "The file to write, or - for standard output (default: the name on the device).",
    completion: .file())
  var local: String?

  @Flag(name: .long, help: "Replace an existing file.")
  var force = false

  @OptionGroup var transfer: FileTransferOptions
  @OptionGroup var target: DeviceOption
  @OptionGroup var link: LinkOptions
  @OptionGroup var capture: CaptureOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: target.device.text) }
  var captureFile: OutputFile? { capture.file }

  func validate() throws {
    try target.device.check(link)
    guard local != nil || !name.isEmpty else {
      throw ValidationError("'\(remote)' has no file name")
    }
    guard local != "-" || !global.output.json else {
      throw ValidationError("with --json, specify a file instead of -")
    }
  }

  private var name: String { remote.split(separator: "/").last.map(String.init) ?? "" }

  private var file: OutputFile? {
    let path = local ?? name
    let kind = OutputFile.Kind("file", newSuffix: ".new") { _ in true }
    return path == "-" ? nil : OutputFile(path: path, kind: kind, option: "LOCAL")
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    try checkFile(in: session)
    let get = SMPFileGet(remote, options: transfer.options) { session.updates.observe($0) }
    let outcome = try await target.device.exchange(in: session, isExclusive: false, link: link) {
      (dialer, clock) async throws(UpdateFault) in try await get.run(on: dialer, clock: clock)
    }
    try write(outcome.bytes, in: session)
    session.console.event(
      "file",
      [
        "outcome": "received", "path": .string(remote), "bytes": .integer(outcome.bytes.count),
        "evidence": .string(outcome.evidence.name), "file": (file?.path).map { .string($0) },
        "connections": .integer(outcome.connections), "ms": .integer(outcome.took.inMilliseconds),
      ])
    let sentence =
      "\(file?.path ?? remote): \(Text.grouped(outcome.bytes.count)) B received in "
      + "\(Text.seconds(outcome.took)); \(outcome.evidence.words)"
    if file == nil { session.console.note(sentence) } else { session.console.result(sentence) }
    return target.device.ending("received")
  }

  private func checkFile(in session: Session) throws(CommandFault) {
    guard let file else { return }
    var status = stat()
    guard force || stat(file.path, &status) != 0 || status.st_mode & S_IFMT != S_IFREG else {
      throw .usage(
        message: "\(file.path) exists; use --force to replace it", command: "files get")
    }
    do throws(OutputFileFault) { try file.check(avoiding: session.inputs) } catch {
      throw .outputFile(file, error)
    }
  }

  private func write(_ bytes: [UInt8], in session: Session) throws(CommandFault) {
    guard let file else {
      if let errno = FileOutput.standardOutput.write(bytes) { throw .output(errno: errno) }
      return
    }
    do throws(OutputFileFault) {
      try file.replace(with: bytes, avoiding: session.inputs)
    } catch {
      throw .outputFile(file, error)
    }
  }
}
