import OtaflashFirmware
import Testing

@Suite("Image descriptor")
struct ImageDescriptorTests {
  private static let descriptor = ImageDescriptor(
    version: FirmwareVersion(1, 3, 0), hardware: HardwareID(0x0000_A001))
  /// The example in docs/image-descriptor.md.
  private static let block: [UInt8] = [
    0x4F, 0x54, 0x41, 0x69, 0x6D, 0x67, 0xD1, 0x5C, 0x01, 0x00, 0x00, 0x00, 0x01, 0xA0, 0x00, 0x00,
    0x01, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xF5, 0x49, 0xB1, 0xF7,
  ]

  @Test("encodes the documented example")
  func encoding() {
    #expect(Self.descriptor.encoded == Self.block)
  }

  @Test("is found at every multiple of 4, up to the end of the first 64 KiB")
  func offsets() throws {
    for offset in [0, 4, 512, 0x1_0000 - 32] {
      let image = [UInt8](repeating: 0, count: offset) + Self.block + [1, 2, 3]
      #expect(try ImageDescriptor.find(in: image) == Self.descriptor)
    }
    for offset in [1, 2, 3, 0x1_0000] {
      let image = [UInt8](repeating: 0, count: offset) + Self.block
      #expect(try ImageDescriptor.find(in: image) == nil)
    }
    #expect(try ImageDescriptor.find(in: []) == nil)
    #expect(try ImageDescriptor.find(in: [0x4F]) == nil)
  }

  @Test("any changed bit after the magic is detected")
  func damage() {
    for byte in 8..<32 {
      for bit in 0..<8 {
        var block = Self.block
        block[byte] ^= 1 << bit
        #expect(throws: FirmwareFault.descriptorDamaged(offset: 4)) {
          try ImageDescriptor.find(in: [0, 0, 0, 0] + block)
        }
      }
    }
  }

  @Test("a descriptor that crosses the end of the image or of the 64 KiB is damaged")
  func cut() {
    #expect(throws: FirmwareFault.descriptorDamaged(offset: 0)) {
      try ImageDescriptor.find(in: Array(Self.block.dropLast()))
    }
    let offset = 0x1_0000 - 28
    #expect(throws: FirmwareFault.descriptorDamaged(offset: offset)) {
      try ImageDescriptor.find(in: [UInt8](repeating: 0, count: offset) + Self.block)
    }
  }

  @Test("two equal descriptors count as one; two different descriptors are a fault")
  func several() throws {
    #expect(try ImageDescriptor.find(in: Self.block + Self.block) == Self.descriptor)
    let other = ImageDescriptor(version: FirmwareVersion(1, 3, 1), hardware: nil)
    #expect(throws: FirmwareFault.descriptorsDiffer(firstOffset: 0, secondOffset: 32)) {
      try ImageDescriptor.find(in: Self.block + other.encoded)
    }
  }

  @Test("a later layout with a correct CRC32 is reported as a later layout")
  func laterLayout() {
    var block = Array(Self.block.dropLast(4))
    block[8] = 2
    let crc = CRC32.checksum(block)
    block += (0..<4).map { UInt8(truncatingIfNeeded: crc >> (8 * UInt32($0))) }
    #expect(throws: FirmwareFault.descriptorLayoutUnknown(2, offset: 0)) {
      try ImageDescriptor.find(in: block)
    }
  }

  @Test("extreme values are encoded and decoded; hardware 0 means any")
  func extremes() throws {
    for descriptor in [
      ImageDescriptor(version: FirmwareVersion(255, 255, 65535), hardware: HardwareID(.max)),
      ImageDescriptor(version: FirmwareVersion(0, 0, 0), hardware: nil),
      ImageDescriptor(version: FirmwareVersion(1, 2, 0x0304), hardware: HardwareID(0x0102_0304)),
    ] {
      #expect(try ImageDescriptor.find(in: descriptor.encoded) == descriptor)
    }
  }
}
