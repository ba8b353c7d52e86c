/// The steps of a client's procedures, for observers of its connection.
package enum GATTClientStep: Equatable, Sendable {
  case discoveringServices, servicesFound, subscribing, subscribed
  /// Discovery failed; the connection remains.
  case discoveryFailed(GATTFault)
  /// A subscription failed; the connection remains.
  case subscriptionFailed(GATTFault)
}
