import ArgumentParser
import OtaflashBlueZ
import OtaflashGATT
import OtaflashSimulation

/// DEVICE: how a device is named on the command line.
struct DeviceSelector: Equatable, Sendable {
  enum Kind: Equatable, Sendable {
    case address(BluetoothAddress)
    /// A regular expression for the advertised name.
    case name(NamePattern)
    /// A device behind an AF_UNIX SEQPACKET socket.
    case unix(path: String)
    /// A simulated device in this process.
    case simulated(SimulationProfile)
    /// The device that was connected to last.
    case last
  }

  let kind: Kind
  /// As it was written.
  let text: String

  static func parse(_ text: String) throws -> DeviceSelector {
    DeviceSelector(kind: try kind(of: text), text: text)
  }

  private static func kind(of text: String) throws -> Kind {
    if let pattern = text.removingPrefix("name:") {
      guard !pattern.isEmpty, let pattern = NamePattern(pattern) else {
        throw ValidationError("'\(pattern)' is no regular expression")
      }
      return .name(pattern)
    }
    if let path = text.removingPrefix("unix:") {
      guard !path.isEmpty else { throw ValidationError("unix: wants the path of a socket") }
      return .unix(path: path)
    }
    if text.hasPrefix("sim:") { return .simulated(try SimulationProfile.argument(text)) }
    if text == "last" { return .last }
    guard let address = BluetoothAddress(text) else {
      throw ValidationError(
        "'\(text)' is no device; write C0:FF:EE:00:00:01, name:REGEX, unix:/path, sim:PROFILE or "
          + "last")
    }
    return .address(address)
  }
}

extension String {
  /// The rest after `prefix`, or `nil` when the text does not start with it.
  func removingPrefix(_ prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }
}

/// `-d DEVICE`, wherever a device is worked on.
struct DeviceOption: ParsableArguments, Sendable {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The device: an address, name:REGEX, unix:/path, sim:PROFILE, or last for the one connected "
        + "to last.", valueName: "device"),
    completion: .list(["last", "sim:"]),
    transform: DeviceSelector.parse)
  var device: DeviceSelector
}
