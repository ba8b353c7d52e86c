import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashUpdate

struct FilesList: TargetedCommand {
  static let words = "files list"
  static let takesSimulatedAir = true
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List a directory of a device.",
    discussion: """
      SMP's file group cannot list files, so this command runs 'fs ls' in the shell of the device. \
      The firmware must be built with CONFIG_MCUMGR_GRP_SHELL and CONFIG_FILE_SYSTEM_SHELL.
      """)

  @Argument(help: "The absolute path of the directory.", transform: DevicePath.parse)
  var path = "/"

  @OptionGroup var target: DeviceOption
  @OptionGroup var capture: CaptureOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: target.device.text) }
  var captureFile: OutputFile? { capture.file }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let list = SMPFileList(path)
    let console = session.console
    console.note("the device's shell runs 'fs ls \(path)'")
    let entries = try await target.device.exchange(in: session, isExclusive: false) {
      (dialer, clock) async throws(UpdateFault) in try await list.run(on: dialer, clock: clock)
    }
    for entry in entries {
      console.event(
        "file_entry",
        [
          "name": .string(entry.name), "directory": .bool(entry.isDirectory),
          "bytes": .integer(entry.size),
        ])
    }
    let rows = entries.map { entry in
      [
        entry.size.map { Text.grouped($0) + " B" } ?? "",
        entry.name + (entry.isDirectory ? "/" : ""),
      ]
    }
    for line in Text.table(rows) { console.result(line) }
    if entries.isEmpty { console.note("the directory is empty") }
    return target.device.ending("listed")
  }
}
