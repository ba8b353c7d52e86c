import Synchronization

/// What a protocol retains from one connection of an update to the next: the value of
/// `UpdateSession.Retained`. The value is a hint; each session starts by asking the device for its
/// state.
public final class RetainedState<Value: RetainedValue>: Sendable {
  private let storage = Mutex(Value())

  /// The state at the start of an update.
  public init() {}

  /// The current value.
  public var value: Value { storage.withLock { $0 } }

  /// Changes the value. `change` must not use this object.
  public func update(_ change: (inout Value) -> Void) { storage.withLock { change(&$0) } }
}

/// A value that a protocol retains, with its content at the start of an update.
public protocol RetainedValue: Sendable {
  /// The value at the start of an update.
  init()
}

/// The value of a protocol that retains nothing.
public struct NothingRetained: RetainedValue {
  /// No content.
  public init() {}
}
