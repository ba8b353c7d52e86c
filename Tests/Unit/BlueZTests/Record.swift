import Glibc
import Synchronization

/// The thread's name in the kernel. The compiler assumes that pthread_self is constant across an
/// await.
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
