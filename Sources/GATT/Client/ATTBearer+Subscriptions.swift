import OtaflashATT

/// Subscriptions, which are kept in step with those who listen.
extension ATTBearer {
  /// Adds one who listens. Nothing is sent before `settle`.
  package func add(
    _ observer: NotificationObserver, _ bits: UInt16 = 0, on value: AttributeHandle,
    descriptor: AttributeHandle? = nil
  ) throws(GATTFault) {
    let ended = state.withLock { state -> GATTFault? in
      if let ended = state.ended { return ended }
      state.subscriptions.add(observer, bits, on: value, descriptor: descriptor)
      return nil
    }
    if let ended { throw ended }
  }

  /// Takes one off. The server is told by `keepSubscriptions`, whoever calls this and from
  /// wherever.
  package func remove(_ observer: NotificationObserver, from value: AttributeHandle) {
    let isUntold = state.withLock { $0.subscriptions.remove(observer, from: value) }
    if isUntold { upkeep.offer(()) }
  }

  /// Takes everybody off a value, tells them why, and tells the server.
  func removeAll(from value: AttributeHandle, because cause: GATTFault) async throws(GATTFault) {
    let observers = state.withLock { $0.subscriptions.removeAll(from: value) }
    for observer in observers { observer.finish(because: cause) }
    try await settle(value)
  }

  /// Writes the configuration that those who listen to a value want, where the server has another.
  func settle(_ value: AttributeHandle) async throws(GATTFault) {
    try await settle(value) { (encoded, descriptor) async throws(GATTFault) in
      try await self.request(encoded: encoded, opcode: .writeRequest, on: descriptor)
    }
  }

  private func settle(
    _ value: AttributeHandle,
    by write: ([UInt8], AttributeHandle) async throws(GATTFault) -> ATTResponse
  ) async throws(GATTFault) {
    // One at a time: what is written must be what is wanted when it is written.
    do throws(GATTFault) { try await enter(settingsGate) } catch {
      abandon(value)
      throw error
    }
    defer { settingsGate.leave() }
    guard let change = state.withLock({ $0.subscriptions.change(of: value) }) else { return }
    let bytes = [UInt8(truncatingIfNeeded: change.wanted), UInt8(change.wanted >> 8)]
    let request = ATTRequest.write(change.descriptor, value: bytes)
    do throws(GATTFault) {
      let response = try await write(request.encoded, change.descriptor)
      guard case .write = response else { throw GATTFault.mismatched(response) }
      state.withLock { $0.subscriptions.wrote(change, of: value) }
    } catch {
      switch error {
      case .cancelled, .queueFull: abandon(value)
      default: state.withLock { $0.subscriptions.refused(change, of: value) }
      }
      throw error
    }
  }

  /// A caller who leaves before the server has answered leaves the rest to `keepSubscriptions`.
  private func abandon(_ value: AttributeHandle) {
    state.withLock { $0.subscriptions.abandoned(of: value) }
    upkeep.offer(())
  }

  /// Tells the server of everyone who left without telling it. Ends with the bearer: each write has
  /// the transaction timeout for its bound, and none is made on a link that has ended.
  func keepSubscriptions() async {
    while ended == nil, let value = state.withLock({ $0.subscriptions.takeUntold() }) {
      do throws(GATTFault) {
        try await settle(value) { (encoded, descriptor) async throws(GATTFault) in
          // Nobody is paired with for the sake of silence.
          try await self.exchange(encoded, .writeRequest, descriptor)
        }
      } catch .queueFull {
        // Those who wait have a bound each; there is room when the first of them is done.
        guard await clock.pause(for: Self.roomPause) else { return }
      } catch .cancelled {
        return
      } catch {
        // A server that refuses to be silent stays as it is; a lost link ends the subscription.
        continue
      }
    }
  }

  /// Counts the Service Changed indications seen on its handle: a client's cache is stale when the
  /// number moved.
  package var attributesChanged: Int { state.withLock { $0.attributesChanged } }

  package func watchServiceChanged(on handle: AttributeHandle) {
    state.withLock { $0.serviceChangedHandle = handle }
  }
}
