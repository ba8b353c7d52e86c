import OtaflashATT

/// The attribute that a fault names: its handle, and its type if the client knows the type.
public struct AttributeReference: Hashable, Sendable {
  /// The handle on the server, valid for one connection.
  public let handle: AttributeHandle
  /// The attribute type; for a characteristic value, the UUID of the characteristic. `nil` if the
  /// attribute was accessed by its handle and has not been discovered.
  public let type: BluetoothUUID?

  /// Creates the reference to an attribute of a server.
  public init(_ handle: AttributeHandle, type: BluetoothUUID? = nil) {
    self.handle = handle
    self.type = type
  }
}

extension AttributeReference: CustomStringConvertible {
  /// The UUID with the handle, or only the handle.
  public var description: String { type.map { "\($0) (handle \(handle))" } ?? "\(handle)" }
}
