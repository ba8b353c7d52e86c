import OtaflashATT

extension GATTClient {
  /// Which of the two kinds a subscription asks for.
  public enum Subscription: UInt16, Sendable {
    /// Values without a confirmation.
    case notifications = 0x0001
    /// Values that are confirmed one by one.
    case indications = 0x0002
  }

  /// Subscribes to a characteristic (4.10, 4.11) and returns its values from now on. The Client
  /// Characteristic Configuration is written for the first subscriber only, and written back to 0
  /// when the last has let go of its stream: by the connection itself, in its turn, as long as the
  /// link stands. A device that is paired remembers what was written when a link ends before that.
  ///
  /// - Parameters:
  ///   - characteristic: one that `characteristics(of:)` found on this connection.
  ///   - kind: `nil` takes notifications where there are some, else indications.
  ///   - capacity: values kept for a reader that is slow, 1 or more; the oldest are dropped.
  public func subscribe(
    to characteristic: DiscoveredCharacteristic, as kind: Subscription? = nil,
    buffering capacity: Int = notificationBufferDefault
  ) async throws(GATTFault) -> NotificationStream {
    report(.subscribing)
    do throws(GATTFault) {
      let stream = try await open(characteristic, as: kind, buffering: capacity)
      report(.subscribed)
      return stream
    } catch {
      let fault = named(error)
      reportFailure(.subscriptionFailed(fault))
      throw fault
    }
  }

  private func open(
    _ characteristic: DiscoveredCharacteristic, as kind: Subscription?, buffering capacity: Int
  ) async throws(GATTFault) -> NotificationStream {
    let kind = if let kind { kind } else { try Self.subscription(of: characteristic) }
    let needed: CharacteristicProperties = kind == .notifications ? .notify : .indicate
    guard characteristic.properties.contains(needed) else {
      throw .notPermitted(
        characteristic.uuid, needs: kind == .notifications ? "notify" : "indicate")
    }
    let descriptor = try await configuration(of: characteristic)
    let observer = NotificationObserver(capacity: capacity)
    // Observe first: a server may notify before it answers the write.
    try bearer.add(observer, kind.rawValue, on: characteristic.value, descriptor: descriptor)
    let registration = NotificationStream.Registration(
      observer: observer, bearer: bearer, handle: characteristic.value)
    try await bearer.settle(characteristic.value)
    return NotificationStream(registration: registration)
  }

  private static func subscription(
    of characteristic: DiscoveredCharacteristic
  ) throws(GATTFault) -> Subscription {
    if characteristic.properties.contains(.notify) { return .notifications }
    if characteristic.properties.contains(.indicate) { return .indications }
    throw .notPermitted(characteristic.uuid, needs: "notify or indicate")
  }

  private func configuration(
    of characteristic: DiscoveredCharacteristic
  ) async throws(GATTFault) -> AttributeHandle {
    let descriptors = try await findDescriptors(of: characteristic)
    guard let found = descriptors.first(where: { $0.type == .clientCharacteristicConfiguration })
    else { throw .notFound(.clientCharacteristicConfiguration) }
    return found.handle
  }

  /// Ends every subscription of a characteristic: the streams that are open end by throwing
  /// `.unsubscribed`, and the server is asked to send no more. Where the wait for its answer is
  /// cancelled, the connection sees to the rest. Nothing is sent where nobody is subscribed.
  public func unsubscribe(from characteristic: DiscoveredCharacteristic) async throws(GATTFault) {
    try await bearer.removeAll(from: characteristic.value, because: .unsubscribed)
  }

  // MARK: What the connection does by itself

  /// Does what no caller waits for until the connection ends: it tells the server of subscribers
  /// that left, and subscribes to Service Changed. To be run by one task beside the bearer.
  package func keepUp() async {
    while await bearer.upkeep.next() != nil {
      await watchServiceChanged()
      await bearer.keepSubscriptions()
    }
  }

  /// Service Changed (7.1), where the server has it. Without it what was discovered is kept for the
  /// connection, as from a server whose attributes never change.
  private func watchServiceChanged() async {
    guard let service = cache.withLock({ $0.unwatched.take() }) else { return }
    do throws(GATTFault) {
      let found = try await findCharacteristics(of: service)
      guard let changed = found.first(where: { $0.uuid == .serviceChanged }),
        changed.properties.contains(.indicate)
      else { return }
      bearer.watchServiceChanged(on: changed.value)
      let descriptor = try await configuration(of: changed)
      let write = ATTRequest.write(descriptor, value: [0x02, 0x00])
      // Not by `request`: nobody is paired with for this.
      _ = try await bearer.exchange(write.encoded, .writeRequest, descriptor)
    } catch {
      // A server that does not let us subscribe is one that does not tell.
      return
    }
  }
}
