import ArgumentParser
import OtaflashBlueZ
import OtaflashConsole
import OtaflashGATT
import OtaflashSimulation
import OtaflashState

/// DEVICE: a device on the command line.
package struct DeviceSelector: Equatable, Sendable {
  package enum Kind: Equatable, Sendable {
    case address(BluetoothAddress)
    /// A regular expression for the advertised name.
    case name(NamePattern)
    /// A device that listens on an AF_UNIX SEQPACKET socket.
    case unix(path: String)
    /// A simulated device in this process.
    case simulated(SimulationProfile)
    /// The last connected device.
    case last
    /// The device with this alias.
    case alias(DeviceAlias)
  }

  package let kind: Kind
  /// The text on the command line.
  package let text: String
  /// The name of the device's records: the text, or the target of an alias.
  package let id: String

  package static func parse(_ text: String) throws -> DeviceSelector {
    DeviceSelector(kind: try kind(of: text), text: text, id: text)
  }

  /// Returns the same device under its alias.
  package func called(_ alias: DeviceAlias) -> DeviceSelector {
    DeviceSelector(kind: kind, text: alias.description, id: id)
  }

  private static func kind(of text: String) throws -> Kind {
    if let pattern = text.removingPrefix("name:") {
      guard !pattern.isEmpty, let pattern = NamePattern(pattern) else {
        throw ValidationError("'\(pattern)' is not a regular expression")
      }
      return .name(pattern)
    }
    if let path = text.removingPrefix("unix:") {
      guard !path.isEmpty else { throw ValidationError("unix: requires the path of a socket") }
      return .unix(path: path)
    }
    if text.hasPrefix("sim:") { return .simulated(try SimulationProfile.argument(text)) }
    if text == "last" { return .last }
    if let address = BluetoothAddress(text) { return .address(address) }
    // Aliases are parsed last, so that an alias cannot hide another form. Aliases are resolved at
    // the start of a run.
    do throws(DeviceAlias.Fault) { return .alias(try DeviceAlias(text)) } catch {
      throw ValidationError("'\(text)' is not a device; write \(forms)")
    }
  }

  package static let forms =
    "C0:FF:EE:00:00:01, name:REGEX, unix:/path, sim:PROFILE, last, or an alias"
}

/// `--profile`, for every command that uses the project file.
package struct ProfileOption: ParsableArguments, Sendable {
  @Option(
    name: .customLong("profile"),
    help: ArgumentHelp(
      "The profile of the project file otaflash.toml to use.", valueName: "name"))
  package var profile: String?

  package init() {}
}

/// `-d DEVICE`, for every command with a device.
package struct DeviceOption: ParsableArguments, Sendable {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The device: an address, an alias, name:REGEX, unix:/path, sim:PROFILE, or last for the last "
        + "connected one.", valueName: "device"),
    completion: DeviceWords.completion,
    transform: DeviceSelector.parse)
  package var device: DeviceSelector

  @OptionGroup package var project: ProfileOption

  package init() {}
}

/// `-d DEVICE` for commands in which the user can choose a device instead.
package struct ChoosableDeviceOption: ParsableArguments, Sendable {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The device: an address, an alias, name:REGEX, unix:/path, sim:PROFILE, or last for the last "
        + "connected one; without it, choose at a terminal.", valueName: "device"),
    completion: DeviceWords.completion,
    transform: DeviceSelector.parse)
  package var device: DeviceSelector?

  @OptionGroup package var project: ProfileOption

  package init() {}
}
