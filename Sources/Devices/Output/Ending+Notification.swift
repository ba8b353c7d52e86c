import OtaflashConsole

extension DesktopNotification {
  /// - Parameter command: the name of the command.
  package init(of command: String, _ ending: Ending) {
    let words = [ExitStatus.done: "done", .notVerified: "not verified"]
    let title = "otaflash \(command): " + (words[ending.exit] ?? "failed")
    let body: String
    if let device = ending.devices.first, ending.devices.count == 1 {
      let former = device.from.map { "\($0) to " } ?? ""
      let version = device.to.map { former + $0 }
      body = "\(device.id): \(device.outcome)" + (version.map { " (\($0))" } ?? "")
    } else if ending.devices.isEmpty {
      body = ending.outcome
    } else {
      let good = ending.devices.count { ["flashed", "already-current"].contains($0.outcome) }
      body = "\(Text.grouped(good)) of \(Text.counted(ending.devices.count, "device")) done"
    }
    self.init(title: title, body: body)
  }
}
