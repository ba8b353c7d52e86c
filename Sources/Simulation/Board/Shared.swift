import Synchronization

/// A value that the tasks of a board and the closures of its server share.
final class Shared<Value>: Sendable {
  private let value: Mutex<Value>

  init(_ value: sending Value) { self.value = Mutex(value) }

  func withLock<Result: Sendable>(_ body: (inout sending Value) -> sending Result) -> Result {
    value.withLock(body)
  }
}
