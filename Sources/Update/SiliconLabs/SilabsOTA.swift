import OtaflashATT

/// The attributes of Silicon Labs' OTA service (AN1086).
package enum SilabsOTA {
  package static let service: BluetoothUUID = "1d14d6ee-fd63-4fa1-bfa4-8f47b42119f0"
  /// Requests (write).
  package static let control: BluetoothUUID = "f7bf3564-fb6d-4e53-88a4-5e37e0326063"
  /// The GBL file (write, usually also without response).
  package static let data: BluetoothUUID = "984227f3-34fc-4045-a5d0-2c581f81a153"
  /// Versions that only a loader reports (read).
  static let bootloaderVersion: BluetoothUUID = "25f05c0a-e917-46e9-b2a5-aa2be1245afe"
  static let loaderVersion: BluetoothUUID = "4f4a2368-8cca-451e-bfff-cf0e2ee23e9f"
  static let protocolVersion: BluetoothUUID = "4cc07bcf-0868-4b32-9dad-ba4cc41e5316"
  static let applicationVersion: BluetoothUUID = "0d77cc11-4ac1-49f2-bfa9-cd96ac7a92f8"
  /// The characteristics that only a loader has.
  static let versions: Set = [
    bootloaderVersion, loaderVersion, protocolVersion, applicationVersion,
  ]

  /// The maximum number of bytes of a data write, which an ATT_MTU of 247 permits.
  static let chunkMaximum = 244
  /// The alignment of data writes.
  static let chunkAlignment = 4

  /// Returns the number of bytes per data write: a multiple of 4, at least 4.
  ///
  /// - Parameter wanted: the caller's choice; `nil` = as many as the ATT_MTU permits.
  package static func chunk(mtu: Int, wanted: Int?) -> Int {
    let most = min(mtu - 3, chunkMaximum)
    return max(chunkAlignment, min(wanted ?? most, most) / chunkAlignment * chunkAlignment)
  }
}

/// A value of OTA Control.
package enum SilabsRequest: UInt8, Sendable, CaseIterable {
  /// An application restarts into the loader; a receiver expects the first byte of a file.
  case begin = 0x00
  /// The file is complete. The response of a loader is its verdict.
  case end = 0x03
  /// The device closes the connection.
  case close = 0x04

  package var encoded: [UInt8] { [rawValue] }
}
