#if Sites
import COtaflashNATS
import Glibc
import Synchronization

/// The connections that libnats may call back. libnats stores a number instead of a pointer, so
/// that a late callback finds no entry and does not access freed memory.
enum Callbacks {
  struct Target: Sendable {
    let switchboard: Switchboard
    let key: NKey?
  }

  private struct Table {
    var lastNumber: UInt = 0
    var targets: [UInt: Target] = [:]
  }
  private static let table = Mutex(Table())

  /// Registers a connection attempt; returns the number of the attempt.
  static func register(_ target: Target) -> UInt {
    table.withLock { table in
      table.lastNumber += 1
      table.targets[table.lastNumber] = target
      return table.lastNumber
    }
  }

  static func remove(_ number: UInt) {
    table.withLock { _ = $0.targets.removeValue(forKey: number) }
  }

  private static func target(_ closure: UnsafeMutableRawPointer?) -> Target? {
    let number = UInt(bitPattern: closure)
    return table.withLock { $0.targets[number] }
  }

  static let disconnected: natsConnectionHandler = { _, closure in
    target(closure)?.switchboard.disconnected(.disconnected)
  }

  static let reconnected: natsConnectionHandler = { _, closure in
    target(closure)?.switchboard.connected()
  }

  static let ended: natsConnectionHandler = { _, closure in
    target(closure)?.switchboard.disconnected(.ended)
  }

  static let failed: natsErrHandler = { _, _, status, closure in
    guard status == NATS_NOT_PERMITTED, let target = target(closure) else { return }
    target.switchboard.refused(String(cString: otaflash_nats_error_text(status)))
  }

  static let message: natsMsgHandler = { connection, _, message, closure in
    guard let message else { return }
    defer { natsMsg_Destroy(message) }
    guard let target = target(closure) else { return }
    let arrived = NATSMessage(copying: message)
    switch target.switchboard.receive(arrived) {
    case .done: return
    case .returnJob:
      guard let reply = arrived.reply else { return }
      // If this call fails, the server delivers the job again after its acknowledgement limit.
      _ = natsConnection_PublishString(connection, reply, "-NAK")
    }
  }

  /// The error text of an attempt whose signature starts with a zero byte (1 of 256). libnats
  /// before 3.8 would send such an attempt without its signature. The next attempt has another
  /// challenge.
  static let unusableSignature = "the signature starts with zero"

  /// Signs the server's challenge. libnats frees the memory of the signature.
  static let sign: natsSignatureHandler = { text, signature, count, nonce, closure in
    guard let nonce, let signature, let count,
      let bytes = target(closure)?.key?.signature(of: Array(String(cString: nonce).utf8)),
      let memory = malloc(bytes.count)
    else {
      text?.pointee = strdup("the key cannot sign")
      return NATS_ERR
    }
    guard bytes[0] != 0 else {
      free(memory)
      text?.pointee = strdup(unusableSignature)
      return NATS_ERR
    }
    memory.copyMemory(from: bytes, byteCount: bytes.count)
    signature.pointee = memory.assumingMemoryBound(to: UInt8.self)
    count.pointee = Int32(bytes.count)
    return NATS_OK
  }
}

extension NATSMessage {
  init(copying message: OpaquePointer) {
    let count = Int(natsMsg_GetDataLength(message))
    let data = UnsafeRawBufferPointer(start: natsMsg_GetData(message), count: count)
    self.init(
      subject: String(cString: natsMsg_GetSubject(message)),
      reply: natsMsg_GetReply(message).map { String(cString: $0) },
      headers: Self.headers(of: message), payload: Array(data))
  }

  private static func headers(of message: OpaquePointer) -> [String: String] {
    var keys: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    var count: Int32 = 0
    guard natsMsgHeader_Keys(message, &keys, &count) == NATS_OK, let keys else { return [:] }
    defer { free(keys) }
    var headers: [String: String] = [:]
    for index in 0..<Int(count) {
      var value: UnsafePointer<CChar>?
      guard let key = keys[index], natsMsgHeader_Get(message, key, &value) == NATS_OK, let value
      else { continue }
      headers[String(cString: key)] = String(cString: value)
    }
    return headers
  }
}
#endif
