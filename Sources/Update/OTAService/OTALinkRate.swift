import OtaflashATT
import OtaflashGATT

/// The expected rate of a link in bytes of data per second, for the choice between an image, a
/// compressed image and a patch. The rate is rounded down, by less than a third, so that small
/// differences on the same link rarely change the choice.
struct OTALinkRate: Sendable {
  /// A request is sent in one connection event, and its answer in the next.
  private static let eventsPerRoundTrip = 2

  let facts: LinkFacts
  /// The number of data bytes in one write.
  let chunk: Int
  /// The maximum number of unacknowledged bytes that the device accepts.
  let window: Int
  /// Whether each write is answered before the next write is sent.
  let isAnswered: Bool
  /// The measured time from a request to its answer.
  let roundTrip: Duration

  /// The expected rate, 1 or more.
  var bytesPerSecond: Double {
    let perRoundTrip = Double(isAnswered ? chunk : window) / seconds
    return Self.stepped(min(perRoundTrip, isAnswered ? .infinity : air))
  }

  /// The time of a round trip in seconds, calculated from the connection interval if it is known.
  private var seconds: Double {
    let known = facts.connectionInterval.map { $0 * Self.eventsPerRoundTrip }
    return max((known ?? roundTrip) / .seconds(1), Double(chunk) / air)
  }

  /// The rate of consecutive Write Commands, in bytes of data per second.
  private var air: Double {
    let size = chunk + OTAService.dataHeaderSize + 3
    return Double(chunk) * 1e6 / Double(PDUSizing(facts).airTimeMicroseconds(size: size))
  }

  /// Rounds a rate down to its two highest bits.
  private static func stepped(_ rate: Double) -> Double {
    let whole = UInt(max(1, min(rate, 1e9)))
    let shift = max(0, UInt.bitWidth - whole.leadingZeroBitCount - 2)
    return Double((whole >> shift) << shift)
  }
}
