import OtaflashATT

/// The rate at which bytes are acknowledged, as the line through the moments at which each
/// acknowledgement came. They come with connection events, so that from one to another tells
/// little; how far they lie beside the line tells how much it can be trusted.
struct AcknowledgedRate: Sendable {
  private var first: (offset: Int, time: Duration)?
  private(set) var count = 0
  /// Bytes from the first acknowledgement to the last.
  private(set) var bytes = 0
  private(set) var took = Duration.zero
  // Sums of bytes and seconds behind the first, and of their products.
  private var x = 0.0
  private var t = 0.0
  private var xx = 0.0
  private var xt = 0.0
  private var tt = 0.0

  /// The device has everything before `offset`, as is known since `time`.
  mutating func add(_ offset: Int, at time: LinkInstant) {
    let first = first ?? (offset, time.elapsed)
    self.first = first
    count += 1
    bytes = offset - first.offset
    took = time.elapsed - first.time
    let (x, t) = (Double(bytes), took / .seconds(1))
    self.x += x
    self.t += t
    xx += x * x
    xt += x * t
    tt += t * t
  }

  /// Sums about the means.
  private var spread: (xx: Double, xt: Double, tt: Double) {
    let n = Double(count)
    return (xx - x * x / n, xt - x * t / n, tt - t * t / n)
  }

  /// `nil` for less than three acknowledgements, or where no time went by between them.
  var bytesPerSecond: Double? {
    guard count >= 3, spread.xt > 0 else { return nil }
    return spread.xx / spread.xt
  }

  /// How far the rate may lie beside the true one, as a share of it; 1 = nothing is known.
  var error: Double {
    guard bytesPerSecond != nil else { return 1 }
    let (xx, xt, tt) = spread
    let slope = xt / xx
    let rest = max(0, tt - slope * xt) / Double(count - 2)
    return min(1, (rest / xx).squareRoot() / slope)
  }
}
