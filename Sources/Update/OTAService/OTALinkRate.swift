import OtaflashATT
import OtaflashGATT

/// How many bytes of data a link is expected to carry in a second: for the choice of what is sent,
/// not for promises. A step of a third, so that the same link leads to the same choice.
struct OTALinkRate: Sendable {
  /// A request in one connection event, its answer in the next.
  private static let eventsPerRoundTrip = 2

  let facts: LinkFacts
  /// Bytes of data in one write.
  let chunk: Int
  /// Bytes that the device takes ahead at most.
  let window: Int
  /// Each write is answered before the next one.
  let isAnswered: Bool
  /// Of a request and its answer, measured.
  let roundTrip: Duration

  /// 1 or more.
  var bytesPerSecond: Double {
    let perRoundTrip = Double(isAnswered ? chunk : window) / seconds
    return Self.stepped(min(perRoundTrip, isAnswered ? .infinity : air))
  }

  /// Of what goes there and back: by the interval where that is known.
  private var seconds: Double {
    let known = facts.connectionInterval.map { $0 * Self.eventsPerRoundTrip }
    return max((known ?? roundTrip) / .seconds(1), Double(chunk) / air)
  }

  /// Of Write Commands, one after the other.
  private var air: Double {
    let size = chunk + OTAService.dataHeaderSize + 3
    return Double(chunk) * 1e6 / Double(PDUSizing(facts).airTimeMicroseconds(size: size))
  }

  /// The two highest bits.
  private static func stepped(_ rate: Double) -> Double {
    let whole = UInt(max(1, min(rate, 1e9)))
    let shift = max(0, UInt.bitWidth - whole.leadingZeroBitCount - 2)
    return Double((whole >> shift) << shift)
  }
}
