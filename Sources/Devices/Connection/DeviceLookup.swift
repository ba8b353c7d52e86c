import OtaflashConsole
import OtaflashGATT
import OtaflashState

/// A command for a device.
package protocol DeviceCommand: Subcommand {
  /// The device; `nil` if the user has not chosen a device yet.
  var device: DeviceSelector? { get set }
}

/// A device command that requires a device.
package protocol TargetedCommand: DeviceCommand {
  var target: DeviceOption { get set }
}

extension TargetedCommand {
  package var device: DeviceSelector? {
    get { target.device }
    set { if let newValue { target.device = newValue } }
  }
}

extension DeviceCommand {
  /// Returns the same command for another device.
  package func naming(_ device: DeviceSelector) -> Self {
    var command = self
    command.device = device
    return command
  }
}

/// Resolves `-d last` and aliases at the start of a run, because another run may later connect to
/// another device, or assign the alias to another device.
package struct DeviceLookup: Sendable {
  package let environment: [String: String]

  package init(environment: [String: String]) { self.environment = environment }

  /// Returns the device to which `last` or an alias refers; other selectors are returned unchanged.
  package func resolved(_ device: DeviceSelector) throws(CommandFault) -> DeviceSelector {
    switch device.kind {
    case .address, .name, .unix, .simulated: device
    case .alias(let alias): try self.device(of: alias)
    case .last: try last()
    }
  }

  /// Returns the last connected device.
  package func last() throws(CommandFault) -> DeviceSelector {
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

  /// Returns the device of an alias, with the alias as its name.
  package func device(of alias: DeviceAlias) throws(CommandFault) -> DeviceSelector {
    let aliases = try aliases()
    guard let device = aliases[alias] else {
      let known = aliases.all.map(\.alias.description)
      throw .noSuchAlias(
        alias.description, nearest: Suggestion.nearest(to: alias.description, among: known))
    }
    do {
      return try DeviceSelector.parse(device).called(alias)
    } catch {
      throw .noSuchAlias(alias.description, nearest: nil)
    }
  }

  package func aliases() throws(CommandFault) -> DeviceAliases {
    do throws(StateFault) {
      let directory = try StateDirectory.locate(environment: environment)
      return try AliasFile(in: directory).load().content ?? DeviceAliases()
    } catch {
      throw .state(error)
    }
  }

  /// Returns the arguments of the command line with the device in place of `last`, so that messages
  /// and printed commands name the device.
  package static func words(_ words: [String], naming device: String) -> [String] {
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
