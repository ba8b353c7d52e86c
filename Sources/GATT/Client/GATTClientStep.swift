/// The steps of a client's procedures, reported to the observers of the connection.
package enum GATTClientStep: Equatable, Sendable {
  case discoveringServices, servicesFound, subscribing, subscribed
  /// Discovery failed; the connection remains.
  case discoveryFailed(GATTFault)
  /// A subscription failed; the connection remains.
  case subscriptionFailed(GATTFault)
}
