import OtaflashATT

/// A PDU of the OTA service that matters for the log of a board (docs/ota-service.md).
enum WatchedPDU: Hashable {
  /// The host writes bytes of the image.
  case data(offset: Int, count: Int)
  /// The host requests a session; with `restart` it discards the held bytes.
  case begin(size: Int, checksum: UInt32, restart: Bool)
  /// The host discards the held bytes.
  case discard
  /// The device reports the size of the held image and the number of held bytes; 0 = none.
  case held(size: Int, offset: Int)
  /// The device started a session, or continues it, at this offset.
  case begun(offset: Int)
  /// The device continues at an earlier offset.
  case rewound(offset: Int)
  case activated
}

/// Finds the PDUs of the OTA service among the PDUs of a board. The handles are learned from the
/// board's answers when a host discovers its characteristics.
struct HostWatch {
  /// The UUIDs of Control and Data, as in a PDU.
  private static let control = uuid(0x02)
  private static let data = uuid(0x03)

  private var controlHandle: UInt16?
  private var dataHandle: UInt16?

  private static func uuid(_ number: UInt8) -> [UInt8] {
    [
      0x29, 0x95, 0x69, 0x56, 0xDB, 0x74, 0xDC, 0x8B, 0x07, 0x48, 0xB4, 0x21, number, 0x00, 0x3E,
      0x2F,
    ]
  }

  /// Whether a PDU from a host is a write: a request, a command or a part of a long write.
  static func isWrite(_ pdu: [UInt8]) -> Bool {
    guard let opcode = pdu.first else { return false }
    return [0x12, 0x52, 0xD2, 0x16, 0x18].contains(opcode)
  }

  /// Decodes a PDU from the host.
  func fromHost(_ pdu: [UInt8]) -> WatchedPDU? {
    guard pdu.count > 3, pdu[0] == 0x12 || pdu[0] == 0x52 else { return nil }
    let (handle, value) = (Self.word(pdu, at: 1), Array(pdu[3...]))
    if handle == dataHandle, value.count > 4 {
      return .data(offset: Self.number(value, at: 0), count: value.count - 4)
    }
    guard handle == controlHandle else { return nil }
    switch (value[0], value.count) {
    case (0x06, 10...):
      return .begin(
        size: Self.number(value, at: 2), checksum: UInt32(Self.number(value, at: 6)),
        restart: value[1] & 1 != 0)
    case (0x0B, 2...) where value[1] & 1 != 0: return .discard
    default: return nil
    }
  }

  /// Decodes a PDU from the board.
  mutating func fromBoard(_ pdu: [UInt8]) -> WatchedPDU? {
    if pdu.first == 0x09 { learn(pdu) }
    guard pdu.count > 4, pdu[0] == 0x1D, Self.word(pdu, at: 1) == controlHandle, pdu[4] == 0 else {
      return nil
    }
    let answer = Array(pdu[5...])
    switch (pdu[3], answer.count) {
    case (0x83, 12...):
      return .held(size: Self.number(answer, at: 0), offset: Self.number(answer, at: 8))
    case (0x86, 4...): return .begun(offset: Self.number(answer, at: 0))
    case (0x87, 4...): return .rewound(offset: Self.number(answer, at: 0))
    case (0x89, _): return .activated
    default: return nil
    }
  }

  /// Read By Type Response with characteristic declarations of 128-bit UUIDs (Core 5.4, Vol 3,
  /// Part G, 4.6.1).
  private mutating func learn(_ pdu: [UInt8]) {
    guard pdu.count > 2, pdu[1] == 21 else { return }
    for start in stride(from: 2, through: pdu.count - 21, by: 21) {
      let handle = Self.word(pdu, at: start + 3)
      switch Array(pdu[start + 5..<start + 21]) {
      case Self.control: controlHandle = handle
      case Self.data: dataHandle = handle
      default: break
      }
    }
  }

  private static func word(_ bytes: [UInt8], at index: Int) -> UInt16 {
    UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8
  }

  private static func number(_ bytes: [UInt8], at index: Int) -> Int {
    Int(word(bytes, at: index)) | Int(word(bytes, at: index + 2)) << 16
  }
}
