import OtaflashATT
import OtaflashWire

/// An image as sectors and packets.
struct EspressifSectors: Sendable {
  let image: [UInt8]
  /// The number of data bytes in a packet.
  let dataSize: Int

  /// - Parameter dataSize: 17 or more, so that no sector needs more than 255 packets.
  init(_ image: [UInt8], dataSize: Int) {
    precondition(dataSize >= EspressifOTA.dataMinimum)
    self.image = image
    self.dataSize = dataSize
  }

  /// The number of sectors.
  var count: Int { (image.count + EspressifOTA.sectorSize - 1) / EspressifOTA.sectorSize }

  /// Returns the number of image bytes in the first `sectors` sectors.
  func bytes(in sectors: Int) -> Int { min(sectors * EspressifOTA.sectorSize, image.count) }

  private func range(_ sector: Int) -> Range<Int> { bytes(in: sector)..<bytes(in: sector + 1) }

  /// Returns the data of each packet of a sector. The last packet has space for the CRC, which is
  /// never split, and at least one byte of data: a device would accept a last packet without data
  /// and with the CRC 0 as an empty sector.
  func packets(of sector: Int) -> [Range<Int>] {
    let range = range(sector)
    var packets: [Range<Int>] = []
    var start = range.lowerBound
    while range.upperBound - start > dataSize - EspressifOTA.checksumSize {
      let end = min(start + dataSize, range.upperBound - 1)
      packets.append(start..<end)
      start = end
    }
    return packets + [start..<range.upperBound]
  }

  /// Returns the value of a packet: sector, sequence number, data, and in the last packet the CRC
  /// of the sector.
  func value(_ packet: Int, of packets: [Range<Int>], sector: Int) -> [UInt8] {
    let isLast = packet == packets.count - 1
    var writer = ByteWriter()
    writer.uint16(UInt16(sector))
    writer.uint8(isLast ? EspressifOTA.lastPacket : UInt8(packet))
    writer.bytes(image[packets[packet]])
    if isLast { writer.uint16(checksum(sector)) }
    return writer.bytes
  }

  private func checksum(_ sector: Int) -> UInt16 {
    EspressifChecksum.checksum(image[range(sector)])
  }

  /// Returns a last packet without data whose CRC is wrong for every part of a sector that the
  /// device may hold. The device discards this part.
  func clearing(_ sector: Int) -> [UInt8] {
    var wrong: Set<UInt16> = [0]
    if sector < count {
      var crc: [UInt8] = []
      for packet in packets(of: sector) {
        crc += image[packet]
        wrong.insert(EspressifChecksum.checksum(crc))
      }
    }
    let value = (1...UInt16.max).first { !wrong.contains($0) } ?? 1
    var writer = ByteWriter()
    writer.uint16(UInt16(sector))
    writer.uint8(EspressifOTA.lastPacket)
    writer.uint16(value)
    return writer.bytes
  }
}
