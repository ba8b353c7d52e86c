import ArgumentParser
import OtaflashATT

/// The way in which a device offers its console.
package enum ConsoleChannel: Equatable, Sendable {
  /// The first that the device has: the Nordic UART Service, then the shell over SMP.
  case automatic
  /// The Nordic UART Service.
  case nordicUART
  /// The shell over SMP, which answers commands but sends no log.
  case shell
  /// A characteristic that sends text.
  case characteristic(BluetoothUUID)

  /// The text after "the device has no", in the message about a missing console.
  package var name: String {
    switch self {
    case .automatic: "Nordic UART Service and no SMP"
    case .nordicUART: "Nordic UART Service"
    case .shell: "SMP service"
    case .characteristic(let uuid): "characteristic \(uuid) that sends values"
    }
  }
}

/// The UUIDs of the Nordic UART Service.
package enum NordicUART {
  package static let service: BluetoothUUID = "6e400001-b5a3-f393-e0a9-e50e24dcca9e"
  /// The characteristic that the host writes.
  package static let receive: BluetoothUUID = "6e400002-b5a3-f393-e0a9-e50e24dcca9e"
  /// The characteristic that the device notifies.
  package static let transmit: BluetoothUUID = "6e400003-b5a3-f393-e0a9-e50e24dcca9e"
}

/// The options of a console, for `console` and `flash --monitor`.
package struct ConsoleOptions: ParsableArguments, Sendable {
  package enum Kind: String, CaseIterable, ExpressibleByArgument, Sendable {
    case auto, nus, shell
  }

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The console of the device: nus (Nordic UART Service), shell (SMP), or auto for the first "
        + "that the device has.", valueName: "kind"))
  package var channel = Kind.auto

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Show the text that this characteristic notifies, and write lines to it.",
      valueName: "uuid"),
    transform: Self.uuid)
  package var characteristic: BluetoothUUID?

  @Option(
    name: .long,
    help: ArgumentHelp("Append the console to this file, with full times.", valueName: "path"),
    completion: .file())
  package var log: String?

  package init() {}

  package func validate() throws {
    guard characteristic == nil || channel == .auto else {
      throw ValidationError("--characteristic and --channel cannot be combined")
    }
  }

  package var consoleChannel: ConsoleChannel {
    if let characteristic { return .characteristic(characteristic) }
    return switch channel {
    case .auto: .automatic
    case .nus: .nordicUART
    case .shell: .shell
    }
  }

  /// Whether an option was set.
  package var isUsed: Bool { characteristic != nil || channel != .auto || log != nil }

  private static func uuid(_ text: String) throws -> BluetoothUUID {
    guard let uuid = BluetoothUUID(text) else {
      throw ValidationError("'\(text)' is not a UUID; write 2A37 or the 36-character form")
    }
    return uuid
  }
}
