/// Memory that files of complete devices contain in addition to the firmware, and that updates over
/// the air do not write. The image excludes a file's data for this memory.
public struct KnownRegion: Hashable, Sendable {
  /// Data that identifies a file as a file for the chip families. The data is necessary because an
  /// address has different meanings on different chips.
  enum Witness: Hashable {
    /// The file has data in the first region but none in the second.
    case data(in: Range<UInt64>, butNotIn: Range<UInt64>? = nil)
    /// The file has the little-endian word at the address.
    case word(UInt32, at: UInt64)
  }

  /// The name of the memory in the documents of the chip's manufacturer.
  public let name: String
  /// The names of the chips that have the memory.
  public let families: String
  /// The addresses of the memory.
  public let region: AddressRegion
  /// The document that specifies the memory.
  public let source: String
  /// The data that identifies a file for these chips; one entry is sufficient.
  let witnesses: [Witness]

  private init(
    _ name: String, of families: String, _ range: Range<UInt64>, if witnesses: Witness...,
    source: String
  ) {
    self.name = name
    self.families = families
    self.region = AddressRegion(of: range)
    self.source = source
    self.witnesses = witnesses
  }
}

extension KnownRegion {
  /// Data at the addresses of the code flash in chips by Nordic, Silicon Labs and TI.
  private static let flashAtZero = Witness.data(in: 0..<0x20_0000)
  /// Data at these addresses indicates a mapping of external flash, not registers.
  private static let belowUICR: Range<UInt64> = 0x1000_0000..<0x1000_1000
  private static let stm32Flash = Witness.data(in: 0x0800_0000..<0x0840_0000)

  /// The known regions in the order of the lookup.
  public static let all = [
    KnownRegion(
      "UICR", of: "nRF51, nRF52", 0x1000_1000..<0x1000_2000,
      if: .data(in: 0..<0x20_0000, butNotIn: belowUICR),
      source: "nRF51 Series Reference Manual 3.0, 8; nRF52840 Product Specification 1.7, 4.5"),
    KnownRegion(
      "UICR", of: "nRF53 application core, nRF91", 0x00FF_8000..<0x00FF_9000, if: flashAtZero,
      source: "nrf5340_application.h, nrf9160.h (NRF_UICR_S_BASE) of nrfx"),
    KnownRegion(
      "UICR", of: "nRF53 network core", 0x01FF_8000..<0x01FF_9000,
      if: .data(in: 0x0100_0000..<0x0104_0000),
      source: "nrf5340_network.h (NRF_UICR_NS_BASE) of nrfx"),
    KnownRegion(
      "UICR", of: "nRF54L", 0x00FF_D000..<0x00FF_E000, if: flashAtZero,
      source: "nrf54l15_application.h (NRF_UICR_S_BASE) of nrfx"),
    // A SoftDevice is identified by the magic of its information structure. An older SoftDevice for
    // nRF51 is identified by the length of code region 0 (UICR.CLENR0) in its file.
    KnownRegion(
      "master boot record", of: "nRF51, nRF52 with a SoftDevice", 0..<0x1000,
      if: .word(0x51B1_E5DB, at: 0x3004),
      .data(in: 0x1000_1000..<0x1000_1004, butNotIn: belowUICR),
      source: "nrf_mbr.h (MBR_SIZE), nrf_sdm.h (SOFTDEVICE_INFO_STRUCT_OFFSET) of the nRF5 SDK"),
    KnownRegion(
      "external flash (QSPI)", of: "nRF52840", 0x1200_0000..<0x1A00_0000, if: flashAtZero,
      source: "nRF52840 Product Specification 1.7, 4.2.3 memory map, XIP"),
    KnownRegion(
      "external flash (QSPI)", of: "nRF5340", 0x1000_0000..<0x1800_0000, if: flashAtZero,
      source: "nRF5340 Product Specification 1.3, memory map, QSPI XIP"),
    KnownRegion(
      "option bytes, OTP and system memory", of: "STM32", 0x1FF0_0000..<0x2000_0000,
      if: stm32Flash, source: "RM0008, RM0038, RM0090, RM0351, RM0434: flash memory organization"),
    KnownRegion(
      "external flash (QSPI)", of: "STM32", 0x9000_0000..<0xA000_0000, if: stm32Flash,
      source: "RM0351, RM0386, RM0434: memory map, QUADSPI bank"),
    KnownRegion(
      "user data, lock bits and device information", of: "EFR32", 0x0FE0_0000..<0x0FE1_0000,
      if: flashAtZero, .data(in: 0x0800_0000..<0x0820_0000),
      source:
        "EFR32xG12 and EFR32xG22 Reference Manuals, memory map"),
    KnownRegion(
      "CCFG", of: "CC23xx", 0x4E02_0000..<0x4E02_0800, if: flashAtZero,
      source: "CC23xx SimpleLink Technical Reference Manual (SWCU193), customer configuration"),
  ]
}
