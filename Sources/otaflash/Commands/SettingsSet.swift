import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashUpdate

struct SettingsSet: TargetedCommand {
  static let words = "settings set"
  static let takesSimulatedAir = true
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Change a setting.",
    discussion: """
      Without --save, the device loses the value at its next restart. --save saves the values of \
      all settings. Some applications use a new value only after --commit.
      """)

  @Argument(help: "The name, such as app/rate.")
  var name: String

  @Argument(help: "The value: text, a number with --type, or digits with --hex.")
  var value: String

  @Flag(name: .long, help: "Apply the changed settings.")
  var commit = false

  @Flag(name: .long, help: "Save all settings.")
  var save = false

  @OptionGroup var format: SettingFormatOptions
  @OptionGroup var target: DeviceOption
  @OptionGroup var capture: CaptureOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: target.device.text) }
  var captureFile: OutputFile? { capture.file }

  func validate() throws { _ = try format.bytes(of: value) }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let bytes: [UInt8]
    do { bytes = try format.bytes(of: value) } catch {
      throw .usage(message: "\(error)", command: "settings set")
    }
    let access = SMPSettingsAccess(
      [.set(name, bytes)] + (commit ? [.commit] : []) + (save ? [.save] : []))
    _ = try await target.device.exchange(in: session, isExclusive: true) {
      (dialer, clock) async throws(UpdateFault) in try await access.run(on: dialer, clock: clock)
    }
    session.console.event(
      "device_setting",
      ["name": .string(name), "hex": .string(Text.hex(bytes)), "saved": .bool(save)])
    session.console.result("\(name) is set" + (save ? ", and all settings are saved" : ""))
    if !save {
      session.console.note("the device loses the value at its next restart; to save it:")
      session.console.note(
        "next:   " + session.command("settings", "save", "-d", target.device.text))
    }
    return target.device.ending("set")
  }
}
