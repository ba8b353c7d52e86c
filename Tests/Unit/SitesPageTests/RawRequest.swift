#if Sites
import Foundation
import Glibc

/// A request written byte by byte, for inputs that no client sends.
struct RawRequest: Sendable {
  let port: Int

  /// Sends a request and returns the answer up to the end of the connection.
  func send(
    _ line: String, host: String, headers: [String] = [], body: String = ""
  ) async throws -> String {
    let head = ["\(line) HTTP/1.1", "Host: \(host)", "Connection: close"] + headers
    let text = head.joined(separator: "\r\n") + "\r\n\r\n" + body
    // A thread, because the calls block.
    return await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: exchange(text)) }
    }
  }

  private func exchange(_ text: String) -> String {
    let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(file) }
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { return "errno \(errno)" }
    let bytes = Array(text.utf8)
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(
          file, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL)
        )
      }
      guard count > 0 else { break }
      sent += count
    }
    var answer: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = recv(file, &part, part.count, 0)
      guard count > 0 else { break }
      answer += part[..<count]
    }
    return String(decoding: answer, as: UTF8.self)
  }
}
#endif
