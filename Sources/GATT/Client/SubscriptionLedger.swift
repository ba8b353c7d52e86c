import OtaflashATT

/// The observers of each characteristic, and the Client Characteristic Configuration that was
/// written to the server (Core 5.4, Vol 3, Part G, 3.3.3.3): the union of the kinds that the
/// observers need. This type has no side effects: the bearer performs the writes.
struct SubscriptionLedger {
  /// A write that updates the configuration of the server.
  struct Change: Equatable {
    let descriptor: AttributeHandle
    let wanted: UInt16
    fileprivate let former: UInt16?
  }

  private struct Listener {
    let observer: NotificationObserver
    let bits: UInt16
  }

  private struct Configuration {
    let descriptor: AttributeHandle
    /// The configuration on the server; `nil` before the first write, during a write, and after a
    /// write whose response was not awaited.
    var written: UInt16?
  }

  private var listeners: [AttributeHandle: [Listener]] = [:]
  private var configurations: [AttributeHandle: Configuration] = [:]
  /// The values whose observers have changed and whose configuration no task updates, in the order
  /// of the changes. A simulated run must depend only on its seed, so a set is not suitable.
  private var untold: [AttributeHandle] = []

  /// Returns the observers of a value; observers of handle 0 wait for the end of the connection.
  func observers(of value: AttributeHandle) -> [NotificationObserver] {
    listeners[value]?.map(\.observer) ?? []
  }

  /// Adds an observer.
  ///
  /// - Parameter descriptor: the configuration descriptor of the value; `nil` if the observer needs
  ///   no subscription.
  mutating func add(
    _ observer: NotificationObserver, _ bits: UInt16, on value: AttributeHandle,
    descriptor: AttributeHandle?
  ) {
    listeners[value, default: []].append(Listener(observer: observer, bits: bits))
    guard let descriptor, configurations[value]?.descriptor != descriptor else { return }
    // The configuration that a bonded server has kept is unknown until the first write.
    configurations[value] = Configuration(descriptor: descriptor, written: nil)
  }

  /// Removes an observer. Returns whether the configuration of the server must be updated.
  mutating func remove(_ observer: NotificationObserver, from value: AttributeHandle) -> Bool {
    listeners[value]?.removeAll { $0.observer === observer }
    return markUntold(value)
  }

  /// Removes and returns all observers of a value.
  mutating func removeAll(from value: AttributeHandle) -> [NotificationObserver] {
    defer { _ = markUntold(value) }
    return listeners.removeValue(forKey: value)?.map(\.observer) ?? []
  }

  private mutating func markUntold(_ value: AttributeHandle) -> Bool {
    if listeners[value]?.isEmpty == true { listeners[value] = nil }
    guard let configuration = configurations[value], configuration.written != wanted(value)
    else { return false }
    if !untold.contains(value) { untold.append(value) }
    return true
  }

  private func wanted(_ value: AttributeHandle) -> UInt16 {
    listeners[value]?.reduce(0) { $0 | $1.bits } ?? 0
  }

  /// Removes and returns a value with an outdated configuration that no task updates.
  mutating func takeUntold() -> AttributeHandle? {
    untold.isEmpty ? nil : untold.removeFirst()
  }

  /// Returns the write that is needed now; `nil` if the configuration is up to date. After the
  /// write, the caller must call `wrote`, `refused` or `abandoned`.
  mutating func change(of value: AttributeHandle) -> Change? {
    untold.removeAll { $0 == value }
    guard let configuration = configurations[value], configuration.written != wanted(value)
    else { return nil }
    configurations[value]?.written = nil
    return Change(
      descriptor: configuration.descriptor, wanted: wanted(value), former: configuration.written)
  }

  mutating func wrote(_ change: Change, of value: AttributeHandle) {
    guard configurations[value]?.descriptor == change.descriptor else { return }
    configurations[value]?.written = change.wanted
  }

  /// Records that the server refused the write, so its configuration is unchanged. An unknown
  /// configuration counts as 0.
  mutating func refused(_ change: Change, of value: AttributeHandle) {
    guard configurations[value]?.descriptor == change.descriptor else { return }
    configurations[value]?.written = change.former ?? 0
  }

  /// Records that the write was abandoned, so the configuration is unknown until another write.
  mutating func abandoned(of value: AttributeHandle) { _ = markUntold(value) }

  /// Discards the stored handles, because the server's attributes have changed.
  mutating func forgetHandles() {
    configurations = [:]
    untold = []
  }

  /// Records the end of the connection; returns all observers.
  mutating func end() -> [NotificationObserver] {
    defer { self = SubscriptionLedger() }
    return listeners.sorted { $0.key < $1.key }.flatMap { $0.value.map(\.observer) }
  }
}
