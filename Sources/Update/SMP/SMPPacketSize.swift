import OtaflashATT
import OtaflashWire

/// How many bytes of image one upload request carries. Pure.
///
/// The longest request is what the server's buffer holds, or what one write carries where the
/// server does not put requests together from several.
struct SMPPacketSize: Equatable, Sendable {
  /// Bytes of an MCUboot header, which the first request must carry as a whole.
  static let headOfImage = 32

  /// Bytes of a request at most, its header included.
  let bytes: Int
  /// What the request at offset 0 says besides.
  let announcement: SMPImage.Upload.Announcement
  /// Bytes of image a request at most, by the caller's wish.
  var dataLimit = Int.max

  /// Bytes of image in the request at `offset` at most; 0 where not even one has room.
  func data(at offset: Int) -> Int {
    min(room(at: offset), offset == 0 ? max(dataLimit, Self.headOfImage) : dataLimit)
  }

  /// Bytes of image in the request at `offset` of an image of `total`, to a server that takes
  /// whole units only. A request that shall tell which may be longer than the caller's wish, and so
  /// may one that carries a single unit.
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
    // The head of an empty string is counted, and has one byte.
    let room = bytes - SMPMessage(empty, sequence: 0).encoded.count + 1
    // CBOR tells lengths up to 23 in one byte, up to 255 in two, up to 65535 in three.
    let fitting = [(head: 1, most: 23), (2, 255), (3, 65535)].map { min(room - $0.head, $0.most) }
    return max(0, fitting.max() ?? 0)
  }

  /// The shortest request that carries a whole MCUboot header at offset 0.
  static func least(for announcement: SMPImage.Upload.Announcement) -> Int {
    let first = SMPImage.Upload(
      offset: 0, data: [UInt8](repeating: 0, count: headOfImage), announcement: announcement)
    return SMPMessage(first, sequence: 0).encoded.count
  }

  /// Bytes of header and field names in a request behind the first 64 KiB, and of the whole
  /// answer.
  private static let overhead = 26
  private static let answer = 18
  private static let writeHeader = 3

  /// Bytes of a request that carries the most image per time on air: all that the buffer holds,
  /// or whole fragments only, whose last one would else be short.
  ///
  /// - Parameters:
  ///   - buffer: bytes that the server's buffer holds.
  ///   - fragment: bytes that one write carries.
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
