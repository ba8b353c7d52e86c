import OtaflashATT

/// Names one connection to a server; never used twice by the same server.
public struct ConnectionID: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Whether an attribute may be read, or written, at all, and what the link must offer.
public enum AttributePermission: Hashable, Sendable {
  /// On no link.
  case forbidden
  /// On a link with this much security.
  case permitted(AttributeSecurity)
}

/// Who reads or writes, and how.
public struct AttributeContext: Hashable, Sendable {
  /// Which of the server's connections asks.
  public let connection: ConnectionID
  /// ATT_MTU in force.
  public let mtu: ATTMTU
  /// The first byte wanted by a Read Blob, else 0. A value that changes by itself should be the
  /// same for all parts of a read that started at 0.
  public let offset: Int
  /// Whether a write waits for an answer. An error returned for one that does not is dropped.
  public let isCommand: Bool
}

/// Where the value of an attribute comes from, and where writes to it go.
public enum AttributeValue: Sendable {
  /// Bytes kept in the table, shared by all connections; writes are 0…`sizeMaximum` bytes long.
  case stored([UInt8], sizeMaximum: Int)
  /// Bytes made and taken by closures, which are called on the server's task and must not block.
  /// `read` returns the whole value whatever the offset; `write` gets a whole value, put together
  /// from its parts if it came by prepared writes, and returns why it refuses.
  case dynamic(
    read: @Sendable (AttributeContext) -> Result<[UInt8], ATTErrorCode>,
    write: @Sendable ([UInt8], AttributeContext) -> ATTErrorCode?)
  /// As `dynamic`, with handlers that may wait, for example for another device or for a system's
  /// own Bluetooth API. The server processes one request of a client at a time, so the client's
  /// next request waits, too. Notifications are sent meanwhile, before the response if need be.
  ///
  /// A handler's task is cancelled after `GATTServer.handlerTimeout`, and when the server stops
  /// serving; return soon then. What the handler returns is still the answer.
  case asynchronous(
    read: @Sendable (AttributeContext) async -> Result<[UInt8], ATTErrorCode> = { _ in
      .failure(.readNotPermitted)
    },
    write: @Sendable ([UInt8], AttributeContext) async -> ATTErrorCode? = { _, _ in
      .writeNotPermitted
    })

  /// Bytes that never change.
  public static func fixed(_ bytes: [UInt8]) -> AttributeValue {
    .stored(bytes, sizeMaximum: bytes.count)
  }

  /// For attributes that are only written.
  public static func written(
    _ write: @escaping @Sendable ([UInt8], AttributeContext) -> ATTErrorCode?
  ) -> AttributeValue {
    .dynamic(read: { _ in .failure(.readNotPermitted) }, write: write)
  }

  /// For attributes that are only read.
  public static func computed(
    _ read: @escaping @Sendable (AttributeContext) -> Result<[UInt8], ATTErrorCode>
  ) -> AttributeValue {
    .dynamic(read: read, write: { _, _ in .writeNotPermitted })
  }
}

/// What a client has asked for in a Client Characteristic Configuration descriptor (Vol 3, Part G,
/// 3.3.3.3).
public struct ClientConfiguration: OptionSet, Hashable, Sendable {
  public let rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The client wants notifications.
  public static let notification = ClientConfiguration(rawValue: 0x0001)
  /// The client wants indications.
  public static let indication = ClientConfiguration(rawValue: 0x0002)

  var littleEndian: [UInt8] {
    [UInt8(truncatingIfNeeded: rawValue), UInt8(rawValue >> 8)]
  }
}
