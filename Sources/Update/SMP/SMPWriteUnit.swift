/// The unit in which a server accepts the bytes of a request. Pure.
///
/// Servers that write received data directly into flash accept only complete flash words of every
/// request except the last, and respond with the offset after them (`img_mgmt_impl_upload_inspect`
/// of mcumgr in Zephyr to 2.7 and in Mynewt: `data_len - data_len % align`). The bytes after the
/// last complete word are sent again.
enum SMPWriteUnit: Equatable, Sendable {
  /// Until a request determines the unit: one request is in flight.
  case unknown
  /// In bytes, a power of two; 1 = every byte is accepted.
  case known(Int)

  /// The largest flash word that is considered.
  private static let maximum = 512
  /// A request of this length, or of this length plus a multiple of 32, determines each word up to
  /// 32 by its remainder.
  static let probeSize = 31
  /// The shortest such request with a complete MCUboot header.
  static let leastTelling = 63

  /// The write unit of a server that accepted `taken` of `sent` bytes, which were not the image's
  /// last.
  ///
  /// If several words explain the number, the result is the largest: its multiples are multiples of
  /// all. `nil` if no word or any word explains it: for an even number that was accepted
  /// completely.
  init?(sent: Int, taken: Int) {
    guard taken < sent else {
      guard taken == sent, !sent.isMultiple(of: 2) else { return nil }
      self = .known(1)
      return
    }
    // After the last complete word, less than one word remains.
    var word = sent - taken <= Self.probeSize ? Self.probeSize + 1 : Self.maximum
    while word > 1, sent / word * word != taken { word /= 2 }
    guard word > 1, taken > 0 else { return nil }
    self = .known(word)
  }

  /// The length of a request with at most `most` bytes, if more of the image follows.
  func cut(_ most: Int) -> Int {
    switch self {
    case .known(let word): return most < word ? most : most / word * word
    case .unknown:
      var modulus = Self.probeSize + 1
      while modulus > 1 {
        let bytes = (most + 1) / modulus * modulus - 1
        if bytes >= SMPPacketSize.headOfImage { return bytes }
        modulus /= 2
      }
      return most
    }
  }
}
