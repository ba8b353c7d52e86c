import OtaflashATT

/// The attributes of Nordic's Secure DFU service, SDK 12 and later.
package enum SecureDFU {
  package static let service = BluetoothUUID(0xFE59)
  /// Requests (write) and responses (notify).
  package static let controlPoint: BluetoothUUID = "8ec90001-f315-4f60-9fb8-838830daea50"
  /// The bytes of the object that was created last (write without response).
  package static let packet: BluetoothUUID = "8ec90002-f315-4f60-9fb8-838830daea50"
}

/// The two types of objects, in the order of sending: the init packet, and the pieces of the image.
package enum SecureDFUObjectType: UInt8, Sendable, CaseIterable {
  case command = 1
  case data = 2
}
