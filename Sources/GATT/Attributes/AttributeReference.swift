import OtaflashATT

/// An attribute that a fault names: its handle, and its type where the client knows it.
public struct AttributeReference: Hashable, Sendable {
  /// The attribute's place on the server, valid for one connection.
  public let handle: AttributeHandle
  /// The attribute's type, of a characteristic's value the characteristic's UUID; `nil` when the
  /// attribute was accessed by its handle and is not discovered.
  public let type: BluetoothUUID?

  /// An attribute of a server.
  public init(_ handle: AttributeHandle, type: BluetoothUUID? = nil) {
    self.handle = handle
    self.type = type
  }
}

extension AttributeReference: CustomStringConvertible {
  /// The UUID with the handle, or the handle only.
  public var description: String { type.map { "\($0) (handle \(handle))" } ?? "\(handle)" }
}
