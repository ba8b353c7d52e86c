import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashUpdate

struct SettingsGet: TargetedCommand {
  static let words = "settings get"
  static let takesSimulatedAir = true
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Print a setting: as text if it is printable, otherwise as hexadecimal digits.")

  @Argument(help: "The name, such as app/rate.")
  var name: String

  @OptionGroup var format: SettingFormatOptions
  @OptionGroup var target: DeviceOption
  @OptionGroup var capture: CaptureOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: target.device.text) }
  var captureFile: OutputFile? { capture.file }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let access = SMPSettingsAccess([.get(name)])
    let values = try await target.device.exchange(in: session, isExclusive: false) {
      (dialer, clock) async throws(UpdateFault) in try await access.run(on: dialer, clock: clock)
    }
    let value = values.first ?? []
    guard let text = format.text(of: value) else {
      throw .usage(
        message: "the value has \(Text.counted(value.count, "byte")), "
          + "\(Text.hex(value)), and is not of the type \(format.type?.rawValue ?? "")",
        command: "settings get")
    }
    session.console.event(
      "device_setting",
      [
        "name": .string(name), "hex": .string(Text.hex(value)),
        "text": SettingFormatOptions.printable(value).map { .string($0) },
        "number": format.type.flatMap { $0.text(of: value) }.map { .string($0) },
      ])
    session.console.result(text)
    return target.device.ending("read")
  }
}
