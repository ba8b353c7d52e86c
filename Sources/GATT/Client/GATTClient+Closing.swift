extension GATTClient {
  /// Closes the link, for a protocol in which the end of the connection is a request to the device.
  /// The later procedures of this client fail with `.linkLost(.closedLocally)`.
  package func closeLink() { bearer.end(because: .linkLost(.closedLocally)) }
}
