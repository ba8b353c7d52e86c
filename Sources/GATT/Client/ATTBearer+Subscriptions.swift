import OtaflashATT

/// Subscriptions, synchronized with their observers.
extension ATTBearer {
  /// Adds an observer. Nothing is sent before `settle`.
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

  /// Removes an observer. If the configuration of the server must change, `keepSubscriptions`
  /// writes it, even if the calling task is cancelled.
  package func remove(_ observer: NotificationObserver, from value: AttributeHandle) {
    let isUntold = state.withLock { $0.subscriptions.remove(observer, from: value) }
    if isUntold { upkeep.offer(()) }
  }

  /// Removes all observers of a value, ends their streams with `cause`, and informs the server.
  func removeAll(from value: AttributeHandle, because cause: GATTFault) async throws(GATTFault) {
    let observers = state.withLock { $0.subscriptions.removeAll(from: value) }
    for observer in observers { observer.finish(because: cause) }
    try await settle(value)
  }

  /// Writes the configuration that the observers of a value need, if the configuration of the
  /// server differs.
  func settle(_ value: AttributeHandle) async throws(GATTFault) {
    try await settle(value) { (encoded, descriptor) async throws(GATTFault) in
      try await self.request(encoded: encoded, opcode: .writeRequest, on: descriptor)
    }
  }

  private func settle(
    _ value: AttributeHandle,
    by write: ([UInt8], AttributeHandle) async throws(GATTFault) -> ATTResponse
  ) async throws(GATTFault) {
    // Only one write at a time, because the written value must be current at the time of the write.
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

  /// Marks a change that was not completed: its caller was cancelled before the server responded,
  /// or a queue was full. `keepSubscriptions` completes the change.
  private func abandon(_ value: AttributeHandle) {
    state.withLock { $0.subscriptions.abandoned(of: value) }
    upkeep.offer(())
  }

  /// Writes the configuration of values whose observers have changed without a write. Returns when
  /// no such value is left, the bearer has ended, or the task is cancelled. The transaction timeout
  /// limits each write, and nothing is written to a link that has ended.
  func keepSubscriptions() async {
    while ended == nil, let value = state.withLock({ $0.subscriptions.takeUntold() }) {
      do throws(GATTFault) {
        try await settle(value) { (encoded, descriptor) async throws(GATTFault) in
          // Unsubscribing must not cause pairing.
          try await self.exchange(encoded, .writeRequest, descriptor)
        }
      } catch .queueFull {
        // Each waiting request has a time limit; the queue has room again when the first request
        // ends.
        guard await clock.pause(for: Self.roomPause) else { return }
      } catch .cancelled {
        return
      } catch {
        // If the server refuses the write, it keeps its configuration. If the link is lost, the
        // subscription has ended.
        continue
      }
    }
  }

  /// The number of Service Changed indications that were received. If the number has changed, the
  /// results of an earlier discovery are out of date.
  package var attributesChanged: Int { state.withLock { $0.attributesChanged } }

  package func watchServiceChanged(on handle: AttributeHandle) {
    state.withLock { $0.serviceChangedHandle = handle }
  }
}
