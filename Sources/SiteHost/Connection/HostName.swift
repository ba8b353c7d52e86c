#if Sites
import Glibc

/// The name of this host, for messages.
package enum HostName {
  private static let lengthMaximum = 256

  package static var current: String {
    var bytes = [CChar](repeating: 0, count: lengthMaximum)
    guard gethostname(&bytes, bytes.count - 1) == 0 else { return "unknown" }
    return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
#endif
