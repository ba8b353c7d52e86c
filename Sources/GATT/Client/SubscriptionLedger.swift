import OtaflashATT

/// Who listens to which characteristic, and what the server was told of it in the Client
/// Characteristic Configuration (Core 5.4, Vol 3, Part G, 3.3.3.3): the union of what those who
/// listen have asked for. Pure: the bearer carries out the writes.
struct SubscriptionLedger {
  /// A write that brings the server up to date.
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
    /// `nil` while a write is under way, and when nobody waited for its answer.
    var written: UInt16?
  }

  private var listeners: [AttributeHandle: [Listener]] = [:]
  private var configurations: [AttributeHandle: Configuration] = [:]
  /// Values whose listeners have changed with nobody to tell the server, the first to change
  /// first: a run is a function of its seed, which the order of a set is not.
  private var untold: [AttributeHandle] = []

  /// The listeners of a value; those of handle 0 wait for the end of the connection.
  func observers(of value: AttributeHandle) -> [NotificationObserver] {
    listeners[value]?.map(\.observer) ?? []
  }

  /// - Parameter descriptor: the value's configuration; `nil` for what is no subscription.
  mutating func add(
    _ observer: NotificationObserver, _ bits: UInt16, on value: AttributeHandle,
    descriptor: AttributeHandle?
  ) {
    listeners[value, default: []].append(Listener(observer: observer, bits: bits))
    guard let descriptor, configurations[value]?.descriptor != descriptor else { return }
    // A server that remembers a pairing may have kept a configuration: only a write makes it known.
    configurations[value] = Configuration(descriptor: descriptor, written: nil)
  }

  /// Returns whether the server has to be told.
  mutating func remove(_ observer: NotificationObserver, from value: AttributeHandle) -> Bool {
    listeners[value]?.removeAll { $0.observer === observer }
    return markUntold(value)
  }

  /// Takes everybody off a value.
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

  /// A value whose configuration is out of date, with nobody who sees to it.
  mutating func takeUntold() -> AttributeHandle? {
    untold.isEmpty ? nil : untold.removeFirst()
  }

  /// The write that is needed now; it must end in `wrote` or `failed`.
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

  /// The server refused: it has what it had.
  mutating func refused(_ change: Change, of value: AttributeHandle) {
    guard configurations[value]?.descriptor == change.descriptor else { return }
    configurations[value]?.written = change.former ?? 0
  }

  /// The write was given up: only another one makes the configuration known.
  mutating func abandoned(of value: AttributeHandle) { _ = markUntold(value) }

  /// The server has other attributes now: what was behind these handles may be anything.
  mutating func forgetHandles() {
    configurations = [:]
    untold = []
  }

  /// The connection is over; returns everybody who listened.
  mutating func end() -> [NotificationObserver] {
    defer { self = SubscriptionLedger() }
    return listeners.sorted { $0.key < $1.key }.flatMap { $0.value.map(\.observer) }
  }
}
