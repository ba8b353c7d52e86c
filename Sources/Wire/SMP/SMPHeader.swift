/// The eight-byte header before each SMP body, in network byte order (Zephyr, MCUmgr SMP protocol
/// specification).
package struct SMPHeader: Equatable, Sendable {
  package static let size = 8
  /// The maximum length of a body in bytes: the length field has sixteen bits.
  package static let bodyMaximum = 0xFFFF

  package var version: SMPVersion
  package var operation: SMPOperation
  /// The flags. The specification defines no flags; the flags of a peer are kept.
  package var flags: UInt8
  /// The length of the body after the header in bytes, 0…65535.
  package var bodyLength: Int
  package var group: SMPGroup
  package var sequence: UInt8
  package var command: UInt8

  package init(
    version: SMPVersion, operation: SMPOperation, flags: UInt8 = 0, bodyLength: Int,
    group: SMPGroup, sequence: UInt8, command: UInt8
  ) {
    precondition(0...Self.bodyMaximum ~= bodyLength)
    self.version = version
    self.operation = operation
    self.flags = flags
    self.bodyLength = bodyLength
    self.group = group
    self.sequence = sequence
    self.command = command
  }

  /// - Parameter bytes: the message, or at least its header; the bytes after the header are
  ///   ignored.
  package init(decoding bytes: some Collection<UInt8>) throws(SMPDecodeFault) {
    let field = Array(bytes.prefix(Self.size))
    guard field.count == Self.size else { throw .headerEndsEarly(bytes: field.count) }
    let versionBits = field[0] >> 3 & 0b11
    guard let version = SMPVersion(rawValue: versionBits) else {
      throw .unknownVersion(versionBits)
    }
    let operationBits = field[0] & 0b111
    guard let operation = SMPOperation(rawValue: operationBits) else {
      throw .unknownOperation(operationBits)
    }
    self.version = version
    self.operation = operation
    flags = field[1]
    bodyLength = Int(field[2]) << 8 | Int(field[3])
    group = SMPGroup(UInt16(field[4]) << 8 | UInt16(field[5]))
    sequence = field[6]
    command = field[7]
  }

  package var encoded: [UInt8] {
    [
      version.rawValue << 3 | operation.rawValue, flags,
      UInt8(bodyLength >> 8), UInt8(bodyLength & 0xFF),
      UInt8(group.rawValue >> 8), UInt8(group.rawValue & 0xFF), sequence, command,
    ]
  }
}

/// The form of an error response: `rc` in the first version of SMP, the map `err` with group and
/// code in the second version.
package enum SMPVersion: UInt8, Sendable, CaseIterable {
  case v1 = 0
  case v2 = 1
}

package enum SMPOperation: UInt8, Sendable, CaseIterable {
  case read = 0
  case readResponse, write, writeResponse

  /// The operation of the response to a request; `nil` for a response.
  package var response: SMPOperation? {
    switch self {
    case .read: .readResponse
    case .write: .writeResponse
    case .readResponse, .writeResponse: nil
    }
  }
}

/// A management group. Groups from 64 on are application-specific.
package struct SMPGroup: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  init(_ number: UInt16) { self.init(rawValue: number) }

  /// Operating system management.
  package static let os = SMPGroup(0)
  package static let image = SMPGroup(1)
  /// Statistics.
  package static let statistics = SMPGroup(2)
  /// Settings that persist across a restart.
  package static let settings = SMPGroup(3)
  /// Files.
  package static let files = SMPGroup(8)
  /// The shell.
  package static let shell = SMPGroup(9)
}
