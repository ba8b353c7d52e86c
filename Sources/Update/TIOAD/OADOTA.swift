import OtaflashATT
import OtaflashGATT

/// The attributes of TI's OAD service.
enum OADOTA {
  static let service: BluetoothUUID = "f000ffc0-0451-4000-b000-000000000000"
  /// Image Identify: the announcement of an image, and the verdict as a notification.
  static let identify: BluetoothUUID = "f000ffc1-0451-4000-b000-000000000000"
  /// Image Block: the blocks.
  static let block: BluetoothUUID = "f000ffc2-0451-4000-b000-000000000000"
  /// Control: commands, answers, and requests for blocks.
  static let control: BluetoothUUID = "f000ffc5-0451-4000-b000-000000000000"

  /// The number of bytes of a block before its image bytes.
  static let numberSize = 4
  /// The bytes of an ATT PDU before the value: opcode and handle.
  static let attOverhead = 3
}

extension UpdateProtocol {
  /// TI's Over-the-Air Download (OAD), enhanced.
  public static let tiOAD = UpdateProtocol(
    "ti-oad",
    carrying: "an image with TI's OAD header, or an MCUboot image for CC23xx and later chips")
}

/// The generation of a device, by which the format of its images differs.
enum OADGeneration: Int, Equatable, Sendable {
  /// CC26xx and CC13xx with a Boot Image Manager.
  case bim = 1
  /// CC23xx and later chips with MCUboot.
  case mcuboot = 2
}
