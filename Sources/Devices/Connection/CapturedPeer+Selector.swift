import OtaflashBlueZ
import OtaflashFirmware
import OtaflashGATT

extension ResolvedDevice {
  /// The device in a capture.
  package var capturedPeer: CapturedPeer {
    address.flatMap(BluetoothAddress.init).map(CapturedPeer.init)
      ?? CapturedPeer(standingFor: identity)
  }
}

extension CapturedPeer {
  package init(_ address: BluetoothAddress) {
    self.init(checked: address.littleEndian, isRandom: address.kind == .random)
  }

  /// Creates the address for a device without an address: a static random address (Core 5.4, Vol 6,
  /// Part B, 1.3.2.1), generated from the device's name (C0:0F and a CRC32). Therefore, the address
  /// of a device is constant, and two devices have the same address only if their names have the
  /// same CRC32.
  package init(standingFor name: String) {
    let checksum = CRC32.checksum(name.utf8)
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (8 * $0)) }
    self.init(checked: bytes + [0x0F, 0xC0], isRandom: true)
  }

  private init(checked bytes: [UInt8], isRandom: Bool) {
    guard let peer = CapturedPeer(littleEndian: bytes, isRandom: isRandom) else {
      preconditionFailure("an address has 6 bytes")
    }
    self = peer
  }
}
