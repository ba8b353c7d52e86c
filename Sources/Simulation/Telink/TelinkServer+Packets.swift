import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// The characteristic: commands and data PDUs, which are distinguished by their first two bytes.
extension TelinkServer {
  private static let headerAndChecksum = 4
  private static let startLength = 20
  private static let pduLengths = 16...240
  private static let endLength = 6
  /// The number of bytes in an ATT PDU in addition to the image bytes: opcode, handle, index and
  /// checksum.
  private static let overhead = 7

  mutating func written(_ bytes: [UInt8], mtu: ATTMTU, at now: LinkInstant) {
    if case .ended = phase { return }
    guard bytes.count >= 2 else { return fail(.invalidPacket) }
    let word = bytes.littleEndianHalfword(at: 0)
    guard word >= 0xFF00 else { return data(bytes, index: Int(word), at: now) }
    switch word {
    case 0xFF00: break
    case 0xFF01: start(16, at: now)
    case 0xFF02: end(bytes)
    case 0xFF03 where settings.variant == .extended: startExtended(bytes, mtu, at: now)
    case 0xFF04 where settings.variant == .extended: compareVersion(bytes)
    // An old SDK ignores commands that it does not know.
    default: if settings.variant == .extended { fail(.invalidPacket) }
    }
  }

  // MARK: Start

  private mutating func start(_ length: Int, at now: LinkInstant) {
    guard case .idle = phase else { return fail(.flow) }
    phase = .receiving(Transfer(pduLength: length, started: now, lastPacket: now))
  }

  private mutating func startExtended(_ bytes: [UInt8], _ mtu: ATTMTU, at now: LinkInstant) {
    guard bytes.count == Self.startLength else { return fail(.invalidPacket) }
    let length = Int(bytes[2])
    guard Self.pduLengths.contains(length), length.isMultiple(of: 16),
      length + Self.overhead <= mtu.bytes
    else { return fail(.packetLength) }
    guard length <= settings.pduMaximum else { return fail(.notSupported) }
    if bytes[3] == 1, isVersionAccepted != true { return fail(.version) }
    start(length, at: now)
  }

  private mutating func compareVersion(_ bytes: [UInt8]) {
    guard bytes.count >= 5 else { return fail(.invalidPacket) }
    let isAccepted = bytes[4] == 0 || bytes.littleEndianHalfword(at: 2) > settings.productVersion
    isVersionAccepted = isAccepted
    notify(0xFF05, settings.productVersion.littleEndianBytes + [isAccepted ? 1 : 0])
  }

  // MARK: Data

  private mutating func data(_ bytes: [UInt8], index: Int, at now: LinkInstant) {
    guard case .receiving(var transfer) = phase else { return fail(.flow) }
    let payload = bytes.dropFirst(2).dropLast(2)
    guard bytes.count > Self.headerAndChecksum, payload.count == transfer.expectedLength else {
      return fail(.packetLength)
    }
    let checksum = bytes.littleEndianHalfword(at: bytes.count - 2)
    guard Self.modbus(bytes.dropLast(2)) == checksum else { return fail(.packetChecksum) }
    guard index == transfer.count else { return fail(.sequence) }
    let offset = transfer.bytes.count
    transfer.bytes += payload
    transfer.count += 1
    transfer.lastPacket = now
    if let problem = transfer.checkHeader(slotSize: parts.settings.slotSize) {
      return fail(problem)
    }
    phase = .receiving(transfer)
    write(payload, at: offset)
    report(transfer)
  }

  /// Writes a PDU to flash, except the word of the mark, which is written last.
  private mutating func write(_ payload: ArraySlice<UInt8>, at offset: Int) {
    guard offset == 0 else {
      return offer(
        [.write(Array(payload), at: slot + offset)], for: .data(payload, at: slot + offset))
    }
    let before = payload.prefix(TelinkImage.markOffset)
    let end = TelinkImage.markOffset + TelinkImage.mark.count
    let after = payload.dropFirst(end)
    offer([.write(Array(before), at: slot)], for: .data(before, at: slot))
    offer([.write(Array(after), at: slot + end)], for: .data(after, at: slot + end))
  }

  private mutating func report(_ transfer: Transfer) {
    guard transfer.count.isMultiple(of: settings.scheduleInterval) else { return }
    switch settings.schedule {
    case .none: break
    case .pdus: notify(0xFF08, UInt16(transfer.count).littleEndianBytes)
    case .size: notify(0xFF09, UInt32(transfer.bytes.count).littleEndianBytes)
    }
  }

  // MARK: End

  /// Checks the last index only if its complement matches, as the SDK does.
  private mutating func end(_ bytes: [UInt8]) {
    guard case .receiving(let transfer) = phase, transfer.count > 0 else { return fail(.flow) }
    if bytes.count >= Self.endLength {
      let last = bytes.littleEndianHalfword(at: 2)
      if last == ~bytes.littleEndianHalfword(at: 4), Int(last) != transfer.count - 1 {
        return fail(.incomplete)
      }
    }
    guard let size = transfer.size, transfer.bytes.count >= size else {
      return fail(.imageChecksum)
    }
    let image = Array(transfer.bytes.prefix(size))
    let trailer = image.littleEndianWord(at: size - TelinkImage.trailerSize)
    guard TelinkImage.checksum(of: image.dropLast(TelinkImage.trailerSize)) == trailer else {
      return fail(.imageChecksum)
    }
    succeed(with: image)
  }

  /// CRC-16/MODBUS: polynomial 0xA001, least significant bit first, initial value 0xFFFF.
  static func modbus(_ bytes: some Sequence<UInt8>) -> UInt16 {
    bytes.reduce(0xFFFF) { crc, byte in
      (0..<8).reduce(crc ^ UInt16(byte)) { value, _ in
        value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xA001
      }
    }
  }
}

extension TelinkServer.Transfer {
  /// The minimum size of an image in bytes: the header and the trailer.
  private static let sizeMinimum = 32 + TelinkImage.trailerSize

  /// The number of image bytes in the next PDU. The last PDU has as many units of 16 bytes as the
  /// rest of the image needs.
  var expectedLength: Int {
    guard let size else { return pduLength }
    let rest = max(0, size - bytes.count)
    return min(pduLength, (rest + 15) / 16 * 16)
  }

  /// Checks the mark and the size as soon as they have arrived. Returns the result code of an
  /// error.
  mutating func checkHeader(slotSize: Int) -> TelinkServer.Result? {
    guard size == nil else { return nil }
    guard TelinkImage.begins(Array(bytes.prefix(16))) else { return .mark }
    guard bytes.count >= TelinkImage.headerSize else { return nil }
    let stated = Int(bytes.littleEndianWord(at: TelinkImage.sizeOffset))
    guard stated >= Self.sizeMinimum, stated <= slotSize,
      stated % TelinkImage.granularity == TelinkImage.trailerSize
    else { return .size }
    size = stated
    return nil
  }
}
