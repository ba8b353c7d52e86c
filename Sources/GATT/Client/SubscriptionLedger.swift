import OtaflashATT

/// The observers of each characteristic, and the Client Characteristic Configuration that was
/// written to the server (Core 5.4, Vol 3, Part G, 3.3.3.3): the union of the kinds that the
/// observers need. It has no side effects: the bearer performs the writes.
struct SubscriptionLedger {
  /// A write that updates the server.
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
    /// `nil` during a write, and after a write whose response was not awaited.
    var written: UInt16?
  }

  private var listeners: [AttributeHandle: [Listener]] = [:]
  private var configurations: [AttributeHandle: Configuration] = [:]
  /// Values whose observers have changed and for which no task informs the server, in the order of
  /// the changes. A run must depend only on its seed, so a set is not suitable.
  private var untold: [AttributeHandle] = []

  /// The observers of a value; observers of handle 0 wait for the end of the connection.
  func observers(of value: AttributeHandle) -> [NotificationObserver] {
    listeners[value]?.map(\.observer) ?? []
  }

  /// - Parameter descriptor: the configuration descriptor of the value; `nil` if the observer needs
  ///   no subscription.
  mutating func add(
    _ observer: NotificationObserver, _ bits: UInt16, on value: AttributeHandle,
    descriptor: AttributeHandle?
  ) {
    listeners[value, default: []].append(Listener(observer: observer, bits: bits))
    guard let descriptor, configurations[value]?.descriptor != descriptor else { return }
    // A bonded server may have kept a configuration, which becomes known only by a write.
    configurations[value] = Configuration(descriptor: descriptor, written: nil)
  }

  /// Returns whether the server must be informed.
  mutating func remove(_ observer: NotificationObserver, from value: AttributeHandle) -> Bool {
    listeners[value]?.removeAll { $0.observer === observer }
    return markUntold(value)
  }

  /// Removes all observers of a value.
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

  /// A value with an outdated configuration that no task updates.
  mutating func takeUntold() -> AttributeHandle? {
    untold.isEmpty ? nil : untold.removeFirst()
  }

  /// The write that is needed now; it must end with `wrote` or `failed`.
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

  /// The server refused the write: its configuration is unchanged.
  mutating func refused(_ change: Change, of value: AttributeHandle) {
    guard configurations[value]?.descriptor == change.descriptor else { return }
    configurations[value]?.written = change.former ?? 0
  }

  /// The write was abandoned, so the configuration is unknown until another write.
  mutating func abandoned(of value: AttributeHandle) { _ = markUntold(value) }

  /// The server's attributes have changed: the stored handles may refer to any attribute.
  mutating func forgetHandles() {
    configurations = [:]
    untold = []
  }

  /// The connection has ended; returns all observers.
  mutating func end() -> [NotificationObserver] {
    defer { self = SubscriptionLedger() }
    return listeners.sorted { $0.key < $1.key }.flatMap { $0.value.map(\.observer) }
  }
}
