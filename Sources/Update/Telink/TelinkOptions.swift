/// The options of updates over Telink's OTA service.
public struct TelinkOptions: Equatable, Sendable, ProtocolOptions {
  /// The time that the device permits from the start to the end of a transfer. The default is the
  /// default of Telink's SDK; a product may have another limit. The update is refused if the
  /// transfer would take longer.
  public var timeLimit = Duration.seconds(30)
  /// The version of the product, which the device compares with its own version before the
  /// transfer; `nil` = no comparison. Only devices with an SDK that supports longer PDUs compare.
  public var productVersion: UInt16?

  /// Creates the defaults.
  public init() {}
}

extension UpdateOptions {
  /// The options of updates over Telink's OTA service.
  public var telink: TelinkOptions {
    get { self[TelinkOptions.self] }
    set { self[TelinkOptions.self] = newValue }
  }
}
