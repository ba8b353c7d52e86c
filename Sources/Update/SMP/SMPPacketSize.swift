import OtaflashATT
import OtaflashWire

/// The number of image bytes in one upload request. Pure.
///
/// The longest request fills the server's buffer or, if the server does not reassemble requests,
/// one write.
struct SMPPacketSize: Equatable, Sendable {
  /// Bytes of an MCUboot header, which the first request must contain completely.
  static let headOfImage = 32

  /// The maximum length of a request, its header included.
  let bytes: Int
  /// The additional fields of the request at offset 0.
  let announcement: SMPImage.Upload.Announcement
  /// The caller's limit of image bytes per request.
  var dataLimit = Int.max

  /// The maximum number of image bytes in the request at `offset`; 0 if not even one fits.
  func data(at offset: Int) -> Int {
    min(room(at: offset), offset == 0 ? max(dataLimit, Self.headOfImage) : dataLimit)
  }

  /// Image bytes in the request at `offset` of an image of `total`, for a server that accepts only
  /// complete units. A request that determines the unit may exceed the caller's limit, and so may
  /// one with a single unit.
  func data(at offset: Int, of total: Int, to unit: SMPWriteUnit) -> Int {
    let least =
      switch unit {
      case .unknown: SMPWriteUnit.leastTelling
      case .known(let word): word
      }
    let most = min(room(at: offset), max(data(at: offset), least))
    return total - offset <= most ? total - offset : unit.cut(most)
  }

  private func room(at offset: Int) -> Int {
    let empty = SMPImage.Upload(
      offset: offset, data: [], announcement: offset == 0 ? announcement : nil)
    // The head of an empty string is counted; it has one byte.
    let room = bytes - SMPMessage(empty, sequence: 0).encoded.count + 1
    // CBOR encodes lengths up to 23 in one byte, up to 255 in two, up to 65535 in three.
    let fitting = [(head: 1, most: 23), (2, 255), (3, 65535)].map { min(room - $0.head, $0.most) }
    return max(0, fitting.max() ?? 0)
  }

  /// The shortest request with a complete MCUboot header at offset 0.
  static func least(for announcement: SMPImage.Upload.Announcement) -> Int {
    let first = SMPImage.Upload(
      offset: 0, data: [UInt8](repeating: 0, count: headOfImage), announcement: announcement)
    return SMPMessage(first, sequence: 0).encoded.count
  }

  /// Bytes of header and field names in a request after the first 64 KiB, and of the complete
  /// response.
  private static let overhead = 26
  private static let answer = 18
  private static let writeHeader = 3

  /// The request length with the highest rate on air: the complete buffer, or only complete
  /// fragments, because the last one would otherwise be short.
  ///
  /// - Parameters:
  ///   - buffer: bytes of the server's buffer.
  ///   - fragment: bytes of one write.
  static func best(buffer: Int, fragment: Int, sizing: PDUSizing) -> Int {
    let whole = buffer / fragment * fragment
    guard whole > overhead, whole < buffer else { return buffer }
    func airTime(_ packet: Int) -> Int {
      let (full, rest) = packet.quotientAndRemainder(dividingBy: fragment)
      let writes = [Int](repeating: fragment, count: full) + (rest > 0 ? [rest] : [])
      return (writes + [answer]).reduce(0) {
        $0 + sizing.airTimeMicroseconds(size: $1 + writeHeader)
      }
    }
    let wholeIsFaster =
      (whole - overhead) * airTime(buffer) > (buffer - overhead) * airTime(whole)
    return wholeIsFaster ? whole : buffer
  }
}
