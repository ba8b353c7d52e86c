import OtaflashATT

/// The UUIDs of a micro:bit.
enum MicrobitUUID {
  static let service: BluetoothUUID = "e97dd91d-251d-470a-a062-fa1922dfa9a8"
  static let control: BluetoothUUID = "e97d3b10-251d-470a-a062-fa1922dfa9a8"
  /// The service that starts the bootloader of V1.
  static let dfuOfV1: BluetoothUUID = "e95d93b0-251d-470a-a062-fa1922dfa9a8"
  static let dfuControlOfV1: BluetoothUUID = "e95d93b1-251d-470a-a062-fa1922dfa9a8"
}
