import OtaflashATT

/// The attributes of SMP over Bluetooth LE (Zephyr, SMP transport specification). Requests are
/// written without response to a single characteristic, and responses are notifications of this
/// characteristic.
package enum SMPService {
  package static let service: BluetoothUUID = "8d53dc1d-1db7-4cd3-868b-8a527460aa84"
  package static let characteristic: BluetoothUUID = "da2e7828-fbce-4e01-ae9e-261174997c48"
}
