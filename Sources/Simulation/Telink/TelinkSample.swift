import OtaflashFirmware

/// Assembles images for Telink chips.
enum TelinkSample {
  /// Returns the body with the mark, the size and the trailer. The body is padded with 0xFF to
  /// complete units of 16 bytes.
  static func image(_ body: [UInt8]) -> [UInt8] {
    let unit = TelinkImage.granularity
    let size = max(2 * unit, (body.count + unit - 1) / unit * unit)
    var bytes = body + [UInt8](repeating: 0xFF, count: size - body.count)
    let mark = TelinkImage.markOffset
    bytes.replaceSubrange(mark..<mark + TelinkImage.mark.count, with: TelinkImage.mark)
    let total = UInt32(size + TelinkImage.trailerSize)
    bytes.replaceSubrange(
      TelinkImage.sizeOffset..<TelinkImage.headerSize, with: total.littleEndianBytes)
    return bytes + TelinkImage.checksum(of: bytes).littleEndianBytes
  }
}
