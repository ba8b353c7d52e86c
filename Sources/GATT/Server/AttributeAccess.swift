import OtaflashATT

/// The identifier of one connection to a server; a server never reuses an identifier.
public struct ConnectionID: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The permission to read or write an attribute, and the security that it requires.
public enum AttributePermission: Hashable, Sendable {
  /// No client may access the attribute.
  case forbidden
  /// A client may access the attribute over a link with at least this security.
  case permitted(AttributeSecurity)
}

/// The client of an access, and the kind of the access.
public struct AttributeContext: Hashable, Sendable {
  /// The connection of the client.
  public let connection: ConnectionID
  /// The current ATT_MTU.
  public let mtu: ATTMTU
  /// The first byte that a Read Blob requests, otherwise 0. A value that changes over time should
  /// be the same for all parts of a read that started at 0.
  public let offset: Int
  /// Whether the write is a command, which has no response. An error that a handler returns for a
  /// command is dropped.
  public let isCommand: Bool
}

/// The source of an attribute's value, and the destination of writes to the attribute.
public enum AttributeValue: Sendable {
  /// Bytes stored in the table and shared by all connections; a written value has 0…`sizeMaximum`
  /// bytes.
  case stored([UInt8], sizeMaximum: Int)
  /// Bytes from and to closures, which are called on the server's task and must not block. `read`
  /// returns the complete value regardless of the offset; `write` receives a complete value,
  /// assembled from its parts in the case of prepared writes, and returns an error to refuse the
  /// write.
  case dynamic(
    read: @Sendable (AttributeContext) -> Result<[UInt8], ATTErrorCode>,
    write: @Sendable ([UInt8], AttributeContext) -> ATTErrorCode?)
  /// Same as `dynamic`, but with handlers that may wait, for example for another device or for a
  /// Bluetooth API of the system. The server processes one request of a client at a time, so the
  /// client's next request also waits. Notifications are still sent, even before the response.
  ///
  /// A handler's task is cancelled after `GATTServer.handlerTimeout`, and when the server stops.
  /// The handler should then return quickly; its result is still used as the response.
  case asynchronous(
    read: @Sendable (AttributeContext) async -> Result<[UInt8], ATTErrorCode> = { _ in
      .failure(.readNotPermitted)
    },
    write: @Sendable ([UInt8], AttributeContext) async -> ATTErrorCode? = { _, _ in
      .writeNotPermitted
    })

  /// Returns a stored value, for an attribute that clients only read.
  public static func fixed(_ bytes: [UInt8]) -> AttributeValue {
    .stored(bytes, sizeMaximum: bytes.count)
  }

  /// Returns a value that clients can only write.
  public static func written(
    _ write: @escaping @Sendable ([UInt8], AttributeContext) -> ATTErrorCode?
  ) -> AttributeValue {
    .dynamic(read: { _ in .failure(.readNotPermitted) }, write: write)
  }

  /// Returns a value that clients can only read.
  public static func computed(
    _ read: @escaping @Sendable (AttributeContext) -> Result<[UInt8], ATTErrorCode>
  ) -> AttributeValue {
    .dynamic(read: read, write: { _, _ in .writeNotPermitted })
  }
}

/// The Client Characteristic Configuration of a client (Vol 3, Part G, 3.3.3.3).
public struct ClientConfiguration: OptionSet, Hashable, Sendable {
  public let rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The client requests notifications.
  public static let notification = ClientConfiguration(rawValue: 0x0001)
  /// The client requests indications.
  public static let indication = ClientConfiguration(rawValue: 0x0002)

  var littleEndian: [UInt8] {
    [UInt8(truncatingIfNeeded: rawValue), UInt8(rawValue >> 8)]
  }
}
