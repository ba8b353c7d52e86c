/// A range of handles, inclusive at both ends (Core 5.4, Vol 3, Part F, 3.4.3).
public struct HandleRange: Hashable, Sendable {
  /// The lowest handle of the range, inclusive.
  public let first: AttributeHandle
  /// The highest handle of the range, inclusive.
  public let last: AttributeHandle

  /// Creates the range of the handles from `first` to `last`, inclusive.
  public init(_ first: AttributeHandle, _ last: AttributeHandle) {
    self.first = first
    self.last = last
  }

  /// Every handle.
  public static let all = HandleRange(.first, .last)

  /// Returns whether `handle` is in the range.
  public func contains(_ handle: AttributeHandle) -> Bool { first <= handle && handle <= last }
}

/// An attribute's handle and type, as in a Find Information Response (3.4.3.2).
public struct AttributeInformation: Hashable, Sendable {
  /// The handle of the attribute.
  public let handle: AttributeHandle
  /// The attribute's type.
  public let type: BluetoothUUID

  /// Creates the description of an attribute of a server.
  public init(handle: AttributeHandle, type: BluetoothUUID) {
    self.handle = handle
    self.type = type
  }
}

/// An attribute's handle and value, as in a Read By Type Response (3.4.4.2).
package struct AttributeData: Hashable, Sendable {
  package let handle: AttributeHandle
  package let value: [UInt8]

  package init(handle: AttributeHandle, value: [UInt8]) {
    self.handle = handle
    self.value = value
  }
}

/// A group's handles and the value of its first attribute (3.4.4.10).
package struct AttributeGroupData: Hashable, Sendable {
  package let handles: HandleRange
  package let value: [UInt8]

  package init(handles: HandleRange, value: [UInt8]) {
    self.handles = handles
    self.value = value
  }
}

/// A value and its length on the server; `value` is shorter if the MTU truncated it (3.4.4.12).
package struct LengthValue: Hashable, Sendable {
  package let length: UInt16
  package let value: [UInt8]

  package init(length: UInt16, value: [UInt8]) {
    self.length = length
    self.value = value
  }
}

/// One entry of a Multiple Handle Value Notification (3.4.7.4).
package struct HandleLengthValue: Hashable, Sendable {
  package let handle: AttributeHandle
  package let value: [UInt8]

  package init(handle: AttributeHandle, value: [UInt8]) {
    self.handle = handle
    self.value = value
  }
}

/// The action of Execute Write (3.4.6.3).
package enum ExecuteWriteFlags: UInt8, Sendable {
  case cancel = 0
  case commit = 1
}

/// Error Response (3.4.1.1): the request that failed, the attribute, and the reason.
package struct ErrorResponse: Hashable, Sendable {
  package let requestOpcode: UInt8
  package let handle: AttributeHandle
  package let code: ATTErrorCode

  package init(requestOpcode: UInt8, handle: AttributeHandle, code: ATTErrorCode) {
    self.requestOpcode = requestOpcode
    self.handle = handle
    self.code = code
  }
}
