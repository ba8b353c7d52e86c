import OtaflashATT
import OtaflashWire

/// The attributes of Nordic's legacy DFU service (SDK 4…11), which Adafruit's bootloader and
/// InfiniTime also use.
package enum LegacyDFU {
  package static let service: BluetoothUUID = "00001530-1212-efde-1523-785feabcd123"
  /// Requests (write), responses and receipts (notify).
  package static let controlPoint: BluetoothUUID = "00001531-1212-efde-1523-785feabcd123"
  /// Sizes, init packet and image (write without response).
  package static let packet: BluetoothUUID = "00001532-1212-efde-1523-785feabcd123"
  /// The service's version (read); missing before SDK 7.
  package static let version: BluetoothUUID = "00001534-1212-efde-1523-785feabcd123"

  /// The default packet size, which every device accepts at every ATT_MTU.
  package static let packetSize = 20
}

/// The value of the DFU Version characteristic: minor, then major.
package struct LegacyDFUVersion: Comparable, Sendable, CustomStringConvertible {
  package let major: UInt8
  package let minor: UInt8

  package init(major: UInt8, minor: UInt8) {
    self.major = major
    self.minor = minor
  }

  /// The version that an application reports if it can restart into the bootloader.
  package static let application = LegacyDFUVersion(major: 0, minor: 1)
  /// The first bootloader version that requires an init packet, enclosed by the requests
  /// `initPacketBegin` and `initPacketEnd`.
  package static let withInitPacket = LegacyDFUVersion(major: 0, minor: 5)

  package init(decoding bytes: [UInt8]) throws(DFUDecodeFault) {
    var reader = try ByteReader(bytes, of: "DFU version", expecting: 2)
    minor = try reader.uint8()
    major = try reader.uint8()
  }

  package var encoded: [UInt8] { [minor, major] }

  package var description: String { "\(major).\(minor)" }

  package static func < (lhs: LegacyDFUVersion, rhs: LegacyDFUVersion) -> Bool {
    (lhs.major, lhs.minor) < (rhs.major, rhs.minor)
  }
}

/// The parts that a transfer replaces, one bit for each.
package struct LegacyDFUParts: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let softDevice = LegacyDFUParts(rawValue: 0x01)
  package static let bootloader = LegacyDFUParts(rawValue: 0x02)
  package static let application = LegacyDFUParts(rawValue: 0x04)
}

/// The first packet of a transfer: the sizes in bytes of SoftDevice, bootloader and application.
package struct LegacyDFUSizes: Equatable, Sendable {
  package var softDevice = 0
  package var bootloader = 0
  package var application = 0

  package init(softDevice: Int = 0, bootloader: Int = 0, application: Int = 0) {
    self.softDevice = softDevice
    self.bootloader = bootloader
    self.application = application
  }

  package var total: Int { softDevice + bootloader + application }

  package var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.uint32(UInt32(softDevice))
    writer.uint32(UInt32(bootloader))
    writer.uint32(UInt32(application))
    return writer.bytes
  }

  /// Decodes the packet, for the simulated device.
  package init(decoding bytes: [UInt8]) throws(DFUDecodeFault) {
    var reader = try ByteReader(bytes, of: "sizes", expecting: 12)
    softDevice = try Int(reader.uint32())
    bootloader = try Int(reader.uint32())
    application = try Int(reader.uint32())
  }
}
