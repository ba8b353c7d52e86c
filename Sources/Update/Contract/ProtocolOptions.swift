/// The options of one protocol, which only its session reads. The folder of the protocol defines
/// the type, and a property of `UpdateOptions` with the name of the protocol.
protocol ProtocolOptions: Sendable {
  /// Creates the defaults.
  init()
}

extension UpdateOptions {
  /// The options of one protocol.
  subscript<Options: ProtocolOptions>(_: Options.Type) -> Options {
    get { protocolOptions.lazy.compactMap { $0 as? Options }.first ?? Options() }
    set {
      protocolOptions.removeAll { $0 is Options }
      protocolOptions.append(newValue)
    }
  }
}
