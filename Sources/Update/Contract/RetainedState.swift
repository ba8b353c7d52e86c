import Synchronization

/// The state that a protocol retains from one connection of an update to the next, as a value of
/// `UpdateSession.Retained`. The value is only a hint: each session starts by reading the state of
/// the device.
public final class RetainedState<Value: RetainedValue>: Sendable {
  private let storage = Mutex(Value())

  /// Creates the state at the start of an update.
  public init() {}

  /// The current value.
  public var value: Value { storage.withLock { $0 } }

  /// Changes the value. `change` must not use this object.
  public func update(_ change: (inout Value) -> Void) { storage.withLock { change(&$0) } }
}

/// A value that a protocol retains from one connection of an update to the next.
public protocol RetainedValue: Sendable {
  /// Creates the value at the start of an update.
  init()
}

/// The value of a protocol that retains nothing.
public struct NothingRetained: RetainedValue {
  /// Creates the empty value.
  public init() {}
}
