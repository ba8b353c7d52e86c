/// How much of a request a server takes at once. Pure.
///
/// Servers that write what arrives straight into flash take whole flash words of every request but
/// the last, and answer the offset behind them (`img_mgmt_impl_upload_inspect` of mcumgr in Zephyr
/// to 2.7 and in Mynewt: `data_len - data_len % align`). What is behind the last whole word comes
/// again.
enum SMPWriteUnit: Equatable, Sendable {
  /// Until a request was answered that could tell: it goes alone.
  case unknown
  /// In bytes, a power of two; 1 = every byte is taken.
  case known(Int)

  /// The largest flash word that is looked for.
  private static let maximum = 512
  /// A request of this many bytes, or so many more than a multiple of 32, tells each word up to 32
  /// by what is left of it.
  static let telling = 31
  /// The shortest such request that carries a whole MCUboot header.
  static let leastTelling = 63

  /// What a server that took `taken` of `sent` bytes, and not the image's last, writes at once.
  ///
  /// Where several words would explain it, it is the largest: a multiple of that is one of all.
  /// `nil` where none would, or where any would: of an even number taken whole.
  init?(sent: Int, taken: Int) {
    guard taken < sent else {
      guard taken == sent, !sent.isMultiple(of: 2) else { return nil }
      self = .known(1)
      return
    }
    // Behind the last whole word there is less than one.
    var word = sent - taken <= Self.telling ? Self.telling + 1 : Self.maximum
    while word > 1, sent / word * word != taken { word /= 2 }
    guard word > 1, taken > 0 else { return nil }
    self = .known(word)
  }

  /// Bytes of a request that may have `most`, when more of the image follows.
  func cut(_ most: Int) -> Int {
    switch self {
    case .known(let word): return most < word ? most : most / word * word
    case .unknown:
      var modulus = Self.telling + 1
      while modulus > 1 {
        let bytes = (most + 1) / modulus * modulus - 1
        if bytes >= SMPPacketSize.headOfImage { return bytes }
        modulus /= 2
      }
      return most
    }
  }
}
