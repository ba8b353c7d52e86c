import OtaflashGATT
import OtaflashState

/// A command that works on a device.
protocol DeviceCommand: Subcommand {
  var target: DeviceOption { get set }
}

extension DeviceCommand {
  /// The same command for another device.
  func naming(_ device: DeviceSelector) -> Self {
    var command = self
    command.target.device = device
    return command
  }
}

/// What `-d last` stands for. It is looked up before anything is done and replaced by the device
/// itself, so that what is told and printed names it: another run may connect to another meanwhile.
enum LastDevice {
  static func selector(
    environment: [String: String]
  ) throws(CommandFault) -> DeviceSelector {
    let last: KnownDevice?
    do throws(StateFault) {
      let directory = try StateDirectory.locate(environment: environment)
      try directory.create()
      last = try RegistryFile(in: directory).devices().first
    } catch {
      throw .state(error)
    }
    do {
      guard let last else { throw CommandFault.noLastDevice }
      return try DeviceSelector.parse(last.id)
    } catch {
      throw .noLastDevice
    }
  }

  /// The words of the command line with the device in the place of `last`.
  static func words(_ words: [String], naming device: String) -> [String] {
    let before = [""] + words
    return zip(before, words).map { former, word in
      switch (former, word) {
      case ("-d", "last"), ("--device", "last"): device
      case (_, "-d=last"), (_, "-dlast"), (_, "--device=last"): "--device=" + device
      default: word
      }
    }
  }
}
