/// The unit in which a server accepts the bytes of a request.
///
/// Servers that write received data directly to flash accept only the complete flash words of each
/// request except the last, and respond with the offset after these words
/// (`img_mgmt_impl_upload_inspect` of mcumgr in Zephyr to 2.7 and in Mynewt: `data_len - data_len %
/// align`). The bytes after the last complete word are sent again.
enum SMPWriteUnit: Equatable, Sendable {
  /// The unit is unknown until a request determines it. Until then, only one request is in flight.
  case unknown
  /// The unit in bytes, a power of two; 1 = every byte is accepted.
  case known(Int)

  /// The largest supported flash word in bytes.
  private static let maximum = 512
  /// A number of image bytes in a request whose remainder determines each word size up to 32 bytes.
  /// The same applies to this number plus a multiple of 32.
  static let probeSize = 31
  /// The lowest number of image bytes in a request that determines the word size and contains a
  /// complete MCUboot header.
  static let leastTelling = 63

  /// Determines the write unit of a server that accepted `taken` of `sent` bytes, which were not
  /// the last bytes of the image.
  ///
  /// If several word sizes explain the number, the result is the largest size (at most 32 if 31
  /// bytes or fewer were refused), because its multiples are also multiples of the smaller sizes.
  /// Returns `nil` if no word size explains the number, or if the number does not limit the word
  /// size because an even number of bytes was accepted completely.
  init?(sent: Int, taken: Int) {
    guard taken < sent else {
      guard taken == sent, !sent.isMultiple(of: 2) else { return nil }
      self = .known(1)
      return
    }
    // The bytes after the last complete word are fewer than one word.
    var word = sent - taken <= Self.probeSize ? Self.probeSize + 1 : Self.maximum
    while word > 1, sent / word * word != taken { word /= 2 }
    guard word > 1, taken > 0 else { return nil }
    self = .known(word)
  }

  /// Returns the number of image bytes in a request that is not the last request of an image.
  ///
  /// - Parameter most: the maximum number of image bytes.
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
