import Glibc
import Synchronization

/// Returns the kernel's identification of the current thread. `pthread_self` cannot be used,
/// because the compiler assumes that its result is constant across an await.
func currentThread() -> String {
  var name = [UInt8](repeating: 0, count: 64)
  let length = readlink("/proc/thread-self", &name, name.count)
  return String(decoding: name.prefix(max(length, 0)), as: UTF8.self)
}

/// A list that tasks on many threads append to.
final class Record<Element: Sendable>: Sendable {
  private let list = Mutex<[Element]>([])

  func append(_ element: Element) { list.withLock { $0.append(element) } }

  var elements: [Element] { list.withLock { $0 } }
}
