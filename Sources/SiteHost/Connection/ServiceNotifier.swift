#if Sites
import Glibc
import OtaflashBlueZ
import OtaflashGATT

/// Sends messages to the service manager (sd_notify(3)): the service is ready, is stopping, or is
/// alive.
package struct ServiceNotifier: Sendable {
  private let path: String?
  /// The interval of the messages for the watchdog of the service manager, which is half of the
  /// time limit of the watchdog; `nil` if there is no watchdog.
  private let interval: Duration?

  package init(environment: [String: String]) {
    path = environment["NOTIFY_SOCKET"]
    interval = environment["WATCHDOG_USEC"].flatMap { Int($0) }.map { .microseconds($0 / 2) }
  }

  package func ready() { send("READY=1") }

  package func stopping() { send("STOPPING=1") }

  /// Reports that the process is alive, until the task is cancelled.
  ///
  /// - Parameter isAlive: returns whether the service makes progress; otherwise no message is sent.
  package func watch(_ isAlive: @Sendable () async -> Bool = { true }) async {
    guard path != nil, let interval else { return }
    while await EventLoopClock().pause(for: interval) {
      if await isAlive() { send("WATCHDOG=1") }
    }
  }

  private func send(_ text: String) {
    guard let path, !path.isEmpty else { return }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { _ = close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
    // The address of an abstract socket starts with a zero byte.
    if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = MemoryLayout.offset(of: \sockaddr_un.sun_path).map { $0 + bytes.count } ?? 0
    let message = Array(text.utf8)
    withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = sendto(
          descriptor, message, message.count, Int32(MSG_NOSIGNAL), $0, socklen_t(length))
      }
    }
  }
}
#endif
