/// A generation of the micro:bit. Calliope mini 3 has the chip and the addresses of V2.
public enum MicrobitBoard: String, Sendable, CaseIterable {
  /// nRF51822 with 256 KiB of flash.
  case v1 = "V1"
  /// nRF52833 with 512 KiB of flash.
  case v2 = "V2"

  /// The size of a flash page in bytes.
  public var pageSize: Int {
    switch self {
    case .v1: 0x400
    case .v2: 0x1000
    }
  }

  /// The flash addresses between the SoftDevice and the bootloader (microbit-connection,
  /// `flashing-full.ts`).
  public var applicationArea: Range<Int> {
    switch self {
    case .v1: 0x1_8000..<0x3_C000
    case .v2: 0x1_C000..<0x7_7000
    }
  }

  /// The size of V1's flash in bytes.
  static let flashSizeOfV1 = 0x4_0000

  /// The addresses of the memory in which a stack starts.
  var memory: ClosedRange<UInt32> {
    switch self {
    case .v1: 0x2000_0000...0x2000_4000
    case .v2: 0x2000_0000...0x2002_0000
    }
  }

  /// The value of a Block Start record (spec-universal-hex, version 0.4.0).
  var blockType: UInt16 {
    switch self {
    case .v1: 0x9900
    case .v2: 0x9903
    }
  }
}
