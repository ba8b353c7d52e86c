import ArgumentParser
import OtaflashATT
import OtaflashBlueZ
import OtaflashConsole
import OtaflashSimulation

/// The link parameters for a device on the air.
package struct LinkOptions: ParsableArguments, Sendable {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The connection interval to request, 7.5ms to 4s; for flash, the default is 7.5 to 15 ms.",
      valueName: "time"),
    transform: LinkOptions.interval)
  package var interval: ConnectionInterval?

  @Option(
    name: .long, help: ArgumentHelp("The PHY to request: 1M, 2M or coded.", valueName: "phy"),
    transform: LinkOptions.phy)
  package var phy: PHY?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The time without a packet after which the link is considered lost; for flash, the default "
        + "is 2s.",
      valueName: "time"),
    transform: TimeSpan.parse)
  package var supervision: TimeSpan?

  @Flag(name: .long, help: "Keep the link parameters; do not request changes.")
  package var keepLink = false

  package init() {}

  private static func interval(_ text: String) throws -> ConnectionInterval {
    guard let interval = ConnectionInterval(listText: text) else {
      throw ValidationError("'\(text)' is not \(ConnectionInterval.expected)")
    }
    return interval
  }

  private static func phy(_ text: String) throws -> PHY {
    guard let phy = PHY(listText: text), phy == phy.withoutCoding else {
      throw ValidationError("'\(text)' is not a PHY; use 1M, 2M or coded")
    }
    return phy
  }

  /// Whether the user requested a parameter, so that a refusal is reported.
  package var asksForSomething: Bool { interval != nil || phy != nil || supervision != nil }

  package func validate() throws {
    guard !keepLink || !asksForSomething else {
      throw ValidationError(
        "--keep-link cannot be combined with --interval, --phy and --supervision")
    }
    guard tuning(else: .flashing)?.isPossible ?? true else {
      throw ValidationError("--supervision must be 100ms to 32s, and more than twice --interval")
    }
  }

  /// Returns the request for link parameters; `nil` = no request.
  ///
  /// - Parameter usual: the default request of the command.
  package func tuning(else usual: LinkTuning?) -> LinkTuning? {
    guard !keepLink else { return nil }
    guard asksForSomething else { return usual }
    var tuning = usual ?? LinkTuning()
    if let interval {
      tuning.interval = interval.duration...interval.duration
      tuning.supervisionTimeout = max(tuning.supervisionTimeout, interval.duration * 4)
    }
    if let supervision {
      tuning.supervisionTimeout = supervision.duration
      // The three parameters are requested in one procedure.
      if tuning.interval == nil { tuning.interval = LinkTuning.flashing.interval }
    }
    if let phy { tuning.phy = phy }
    return tuning
  }
}

extension DeviceSelector {
  /// Checks that the link of the device can be tuned, if the options request a parameter.
  ///
  /// - Throws: an error if a parameter is requested, but the device has no radio.
  package func check(_ options: LinkOptions) throws {
    switch kind {
    case .address, .name, .last, .alias: return
    case .unix, .simulated:
      guard !options.asksForSomething else {
        throw ValidationError(
          "--interval, --phy and --supervision are for Bluetooth devices; for a simulated device, "
            + "use 'sim:?interval=15ms&phy=2M'")
      }
    }
  }
}
