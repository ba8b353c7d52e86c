import OtaflashATT
import OtaflashWire

/// Calculates the number of image bytes in one upload request.
///
/// `SMPBuffers.requestMaximum` determines the maximum length of a request.
struct SMPPacketSize: SMPRequestSize {
  /// The size in bytes of an MCUboot header, which the first request must contain completely.
  static let headOfImage = 32

  /// The maximum length of a request, including its header.
  let bytes: Int
  /// The additional fields of the request at offset 0.
  let announcement: SMPImage.Upload.Announcement
  /// The caller's limit of image bytes per request.
  var dataLimit = Int.max

  /// Returns the maximum number of image bytes in the request at `offset`; 0 if not even one byte
  /// fits.
  func data(at offset: Int) -> Int {
    min(room(at: offset), offset == 0 ? max(dataLimit, Self.headOfImage) : dataLimit)
  }

  /// Returns the number of image bytes in the request at `offset`, for an image of `total` bytes
  /// and a server that accepts only complete units. A request that determines the unit, or that
  /// contains a single unit, may exceed the caller's limit.
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
    return Self.room(in: bytes, besides: empty)
  }

  /// Returns the length in bytes of the shortest request at offset 0 with a complete MCUboot
  /// header.
  static func least(for announcement: SMPImage.Upload.Announcement) -> Int {
    let first = SMPImage.Upload(
      offset: 0, data: [UInt8](repeating: 0, count: headOfImage), announcement: announcement)
    return SMPMessage(first, sequence: 0).encoded.count
  }

  /// The size in bytes of the header and field names in a request after the first 64 KiB.
  private static let overhead = 26
  /// The size of a complete response in bytes.
  private static let answer = 18
  private static let writeHeader = 3

  /// Returns the request length, in bytes, with the highest data rate: the size of the buffer, or
  /// the size of all complete fragments in the buffer if a last, short fragment would be slower.
  ///
  /// - Parameters:
  ///   - buffer: the size of the server's buffer in bytes.
  ///   - fragment: the size of one write in bytes.
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
