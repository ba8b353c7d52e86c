import Glibc
import Synchronization

func currentThread() -> UInt { UInt(pthread_self()) }

/// A list that tasks on many threads append to.
final class Record<Element: Sendable>: Sendable {
  private let list = Mutex<[Element]>([])

  func append(_ element: Element) { list.withLock { $0.append(element) } }

  var elements: [Element] { list.withLock { $0 } }
}
