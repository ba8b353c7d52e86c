#if Sites
import Foundation
import Glibc
import OtaflashNATS

/// A client that sends whatever a test says, unlike `NATSConnection`, which refuses invalid names
/// and chooses its reply subjects. Without TLS.
package final class RawClient {
  /// A line of the protocol that the server sent, with the payload of a message.
  package struct Line: Hashable {
    /// The words of the line.
    package let text: String
    /// The headers and the payload.
    package let payload: [UInt8]

    /// The line as a row of a table: an error, or the content of a message.
    package var summary: String {
      guard !text.hasPrefix("-ERR") else { return text }
      return String(decoding: payload, as: UTF8.self)
        .split(whereSeparator: \.isNewline).joined(separator: " ")
    }
  }

  package struct Failure: Error { package let text: String }

  private let descriptor: Int32
  private var input: [UInt8] = []
  private var isOpen = true

  /// Connects with a key; `nil` = without a key. Throws if the server does not answer within 10 s.
  package init(port: Int, key: NKey?) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard descriptor >= 0, result == 0 else { throw Failure(text: "no connection") }
    var limit = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let info = try line()
    var options = #"CONNECT {"verbose":false,"headers":true,"no_responders":true,"#
    options += #""lang":"test","version":"1""#
    if let key, let nonce = info.firstMatch(of: /"nonce":"([^"]*)"/)?.1,
      let signature = key.signature(of: Array(nonce.utf8))
    {
      let text = Data(signature).base64EncodedString()
        .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
      options += #","nkey":"\#(key.publicKey)","sig":"\#(text)""#
    }
    try send(options + "}\r\n")
  }

  deinit { close(descriptor) }

  package func subscribe(_ subject: String) throws { try send("SUB \(subject) 1\r\n") }

  package func publish(
    _ subject: String, _ payload: [UInt8] = [], reply: String? = nil, header: String? = nil
  ) throws {
    let reply = reply.map { " \($0)" } ?? ""
    if let header {
      let head = "NATS/1.0\r\n\(header)\r\n\r\n"
      let count = head.utf8.count
      let line = "HPUB \(subject)\(reply) \(count) \(count + payload.count)\r\n"
      try send(Array((line + head).utf8) + payload + Array("\r\n".utf8))
    } else {
      let line = "PUB \(subject)\(reply) \(payload.count)\r\n"
      try send(Array(line.utf8) + payload + Array("\r\n".utf8))
    }
  }

  /// Returns the lines that the server sends until it has processed all commands.
  package func flush() throws -> [Line] {
    try send("PING\r\n")
    var lines: [Line] = []
    while let line = try next() {
      if line.text == "PONG" { return lines }
      lines.append(line)
    }
    return lines
  }

  /// Returns the next line; `nil` if the server has closed the connection. Answers the server's
  /// PINGs, which it sends at irregular times.
  package func next() throws -> Line? {
    guard isOpen else { return nil }
    var text: String
    do {
      text = try line()
      while text == "PING" {
        try send("PONG\r\n")
        text = try line()
      }
    } catch {
      guard !isOpen else { throw error }
      return nil
    }
    let words = text.split(separator: " ")
    guard let first = words.first, ["MSG", "HMSG"].contains(first),
      let count = words.last.flatMap({ Int($0) })
    else { return Line(text: text, payload: []) }
    while input.count < count + 2 { try fill() }
    defer { input.removeFirst(count + 2) }
    return Line(text: text, payload: Array(input.prefix(count)))
  }

  private func line() throws -> String {
    while true {
      if let end = input.firstIndex(of: UInt8(ascii: "\n")) {
        defer { input.removeFirst(end + 1) }
        return String(decoding: input[..<end], as: UTF8.self).trimmingCharacters(in: .whitespaces)
          .replacing("\r", with: "")
      }
      try fill()
    }
  }

  private func fill() throws {
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else {
      isOpen = count < 0 && errno == EAGAIN
      throw Failure(text: count == 0 ? "closed" : String(cString: strerror(errno)))
    }
    input += buffer.prefix(count)
  }

  private func send(_ text: String) throws { try send(Array(text.utf8)) }

  private func send(_ bytes: [UInt8]) throws {
    let count = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    // A connection that the server has closed is reported by `next`.
    guard count == bytes.count || errno == EPIPE || errno == ECONNRESET else {
      throw Failure(text: String(cString: strerror(errno)))
    }
  }
}
#endif
