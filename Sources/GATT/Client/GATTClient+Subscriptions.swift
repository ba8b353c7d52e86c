import OtaflashATT

extension GATTClient {
  /// The kind of a subscription.
  public enum Subscription: UInt16, Sendable {
    /// The device sends values without a confirmation.
    case notifications = 0x0001
    /// The device sends values that the client confirms one by one.
    case indications = 0x0002
  }

  /// Subscribes to a characteristic (4.10, 4.11), and returns the subsequent values. The Client
  /// Characteristic Configuration is written only for the first subscriber of each kind. When the
  /// last subscriber has released its stream, the connection queues a write of 0 if the link still
  /// exists. A bonded device keeps the configuration if the link ends before this write.
  ///
  /// - Parameters:
  ///   - characteristic: a characteristic that was discovered on this connection, for example by
  ///     `characteristics(of:)`.
  ///   - kind: `nil` uses notifications if the characteristic supports them, otherwise indications.
  ///   - capacity: the number of values kept for a slow reader, 1 or more; the oldest values are
  ///     dropped.
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
    // Observe first: a server may notify before it responds to the write.
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

  /// Ends all subscriptions of a characteristic: open streams end by throwing `.unsubscribed`, and
  /// the configuration of the server is set to 0. If the wait for the response is cancelled, the
  /// connection completes the write. Without a subscription nothing is sent.
  public func unsubscribe(from characteristic: DiscoveredCharacteristic) async throws(GATTFault) {
    try await bearer.removeAll(from: characteristic.value, because: .unsubscribed)
  }

  // MARK: Automatic procedures of the connection

  /// Runs the procedures that have no waiting caller until the connection ends: informs the server
  /// of ended subscriptions, and subscribes to Service Changed. One task must call this function
  /// concurrently with the bearer.
  package func keepUp() async {
    while await bearer.upkeep.next() != nil {
      await watchServiceChanged()
      await bearer.keepSubscriptions()
    }
  }

  /// Subscribes to Service Changed (7.1), if the server has this characteristic. Otherwise the
  /// results of discovery are kept for the connection, because the attributes of such a server
  /// never change.
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
      // Not sent by `request`, because this subscription must not cause pairing.
      _ = try await bearer.exchange(write.encoded, .writeRequest, descriptor)
    } catch {
      // If the server refuses the subscription, it is treated like a server without Service
      // Changed.
      return
    }
  }
}
