extension GATTClient {
  /// Closes the link, for a protocol in which the end of the connection is a request to the device.
  /// The later procedures of this client fail with `.linkLost(.closedLocally)`.
  package func closeLink() { bearer.end(because: .linkLost(.closedLocally)) }
}

extension PendingWrite {
  /// Waits until the outcome is available, and does not consume it. The transaction timeout limits
  /// the wait.
  ///
  /// - Throws: `.cancelled`.
  package func arrival() async throws(GATTFault) {
    await waitForArrival()
    if Task.isCancelled { throw .cancelled }
  }
}
