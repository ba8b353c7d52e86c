import OtaflashATT

/// The attributes and the limits of the Partial Flashing Service of the micro:bit.
enum MicrobitService {
  static let service: BluetoothUUID = "e97dd91d-251d-470a-a062-fa1922dfa9a8"
  /// The only characteristic: commands (write without response) and answers (notify).
  static let control: BluetoothUUID = "e97d3b10-251d-470a-a062-fa1922dfa9a8"

  /// The number of script bytes in a packet.
  static let packetSize = 16
  /// The number of packets that the device writes together.
  static let packetsPerBlock = 4
  static let blockSize = packetSize * packetsPerBlock
}

extension UpdateProtocol {
  /// Partial flashing of the micro:bit and the Calliope mini.
  public static let microbit = UpdateProtocol(
    "microbit", carrying: "a HEX file of MakeCode or MicroPython for the micro:bit")
}
