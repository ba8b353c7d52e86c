import ArgumentParser
import OtaflashConsole
import OtaflashUpdate

/// The options for devices with Telink's OTA service.
package struct TelinkArguments: ParsableArguments, Sendable {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The time that a device with Telink's OTA service permits for a transfer (default: 30s).",
      valueName: "time"),
    transform: TimeSpan.parse)
  package var telinkTimeLimit: TimeSpan?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The product version, 0 to 65535, that a device with Telink's OTA service must accept.",
      valueName: "version"))
  package var telinkVersion: UInt16?

  package init() {}

  /// Stores the options in the options of an update.
  package func apply(to options: inout UpdateOptions) {
    if let telinkTimeLimit { options.telink.timeLimit = telinkTimeLimit.duration }
    options.telink.productVersion = telinkVersion
  }
}
