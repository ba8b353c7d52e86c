import ArgumentParser
import OtaflashBlueZ
import OtaflashConsole
import OtaflashGATT
import OtaflashSimulation
import OtaflashState

/// DEVICE: how a device is named on the command line.
package struct DeviceSelector: Equatable, Sendable {
  package enum Kind: Equatable, Sendable {
    case address(BluetoothAddress)
    /// A regular expression for the advertised name.
    case name(NamePattern)
    /// A device behind an AF_UNIX SEQPACKET socket.
    case unix(path: String)
    /// A simulated device in this process.
    case simulated(SimulationProfile)
    /// The device that was connected to last.
    case last
    /// The device that the user calls so.
    case alias(DeviceAlias)
  }

  package let kind: Kind
  /// As it was written.
  package let text: String
  /// As its records know it: what was written, or what an alias stands for.
  package let id: String

  package static func parse(_ text: String) throws -> DeviceSelector {
    DeviceSelector(kind: try kind(of: text), text: text, id: text)
  }

  /// The same device under the user's name for it.
  package func called(_ alias: DeviceAlias) -> DeviceSelector {
    DeviceSelector(kind: kind, text: alias.description, id: id)
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
    if let address = BluetoothAddress(text) { return .address(address) }
    // Last, so that no alias hides another form; it is looked up before anything is done.
    do throws(DeviceAlias.Fault) { return .alias(try DeviceAlias(text)) } catch {
      throw ValidationError("'\(text)' is no device; write \(forms)")
    }
  }

  package static let forms =
    "C0:FF:EE:00:00:01, name:REGEX, unix:/path, sim:PROFILE, last, or an alias of yours"
}

/// `-d DEVICE`, wherever a device is worked on.
package struct DeviceOption: ParsableArguments, Sendable {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The device: an address, an alias, name:REGEX, unix:/path, sim:PROFILE, or last for the one "
        + "connected to last.", valueName: "device"),
    completion: DeviceWords.completion,
    transform: DeviceSelector.parse)
  package var device: DeviceSelector

  package init() {}
}

/// `-d DEVICE` where a person may choose one instead.
package struct ChoosableDeviceOption: ParsableArguments, Sendable {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The device: an address, an alias, name:REGEX, unix:/path, sim:PROFILE, or last for the one "
        + "connected to last; without it, a person at a terminal chooses.", valueName: "device"),
    completion: DeviceWords.completion,
    transform: DeviceSelector.parse)
  package var device: DeviceSelector?

  package init() {}
}
