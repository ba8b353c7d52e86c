import OtaflashATT

/// The attributes of Adafruit's BLE file transfer service, version 4, which InfiniTime also uses
/// (`Adafruit_CircuitPython_BLE_File_Transfer`, README; InfiniTime, `doc/BLEFS.md`).
package enum FileTransfer {
  package static let service = BluetoothUUID(0xFEBB)
  /// The protocol version as a 16-bit integer (read).
  package static let version: BluetoothUUID = "adaf0100-4669-6c65-5472-616e73666572"
  /// Requests (write) and answers (notify).
  package static let transfer: BluetoothUUID = "adaf0200-4669-6c65-5472-616e73666572"

  /// The first version with the request to move a file.
  static let versionMinimum: UInt16 = 4
}
