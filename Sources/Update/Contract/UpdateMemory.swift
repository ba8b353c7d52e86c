import Synchronization

/// What a protocol remembers of a device over the connections of one update: one value a type. A
/// hint; where the device stands is asked anew on each connection.
public final class UpdateMemory: Sendable {
  private let values = Mutex<[ObjectIdentifier: any Sendable]>([:])

  init() {}

  /// What was kept last of this type.
  public func last<Value: Sendable>(_ type: Value.Type) -> Value? {
    values.withLock { $0[ObjectIdentifier(type)] } as? Value
  }

  /// Keeps a value for the connections to come, instead of the last of its type.
  public func keep<Value: Sendable>(_ value: Value) {
    values.withLock { $0[ObjectIdentifier(Value.self)] = value }
  }
}
