/// What a client's procedures come to, for whoever follows its connection.
package enum GATTClientStep: Equatable, Sendable {
  case discoveringServices, servicesFound, subscribing, subscribed
  /// Discovery failed on a connection that stands.
  case discoveryFailed(GATTFault)
  /// A subscription failed on a connection that stands.
  case subscriptionFailed(GATTFault)
}
