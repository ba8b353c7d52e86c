import OtaflashATT

/// The service with which a micro:bit V1 restarts into its bootloader (microbit-dal,
/// `MicroBitDFUService.cpp`).
enum MicrobitDFU {
  static let service: BluetoothUUID = "e95d93b0-251d-470a-a062-fa1922dfa9a8"
  /// The only characteristic (write).
  static let control: BluetoothUUID = "e95d93b1-251d-470a-a062-fa1922dfa9a8"
  /// The request that starts the bootloader.
  static let start: [UInt8] = [1]
}
