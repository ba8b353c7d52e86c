import OtaflashATT
import OtaflashGATT

/// How long a device is borne with that gets no further: in every protocol, and in the benchmark.
///
/// Only what has never been so high before is progress. A window that opens and closes, an offset
/// that wanders, and a refusal that is taken back each second are none: a device that does only
/// that would keep its host for ever.
public struct Patience: Sendable {
  /// What a device gets further in, in bytes of the image.
  public struct Marks: Equatable, Sendable {
    /// Bytes that it has taken.
    public var acknowledged = 0
    /// Bytes that are in its flash.
    public var durable = 0
    /// The end of what it permits to be sent, in bytes of the image.
    public var granted = 0

    /// - Parameters:
    ///   - acknowledged: 0 to the image's size.
    ///   - durable: 0 where the device does not tell.
    ///   - granted: 0 where the device does not tell.
    public init(acknowledged: Int = 0, durable: Int = 0, granted: Int = 0) {
      self.acknowledged = acknowledged
      self.durable = durable
      self.granted = granted
    }
  }

  /// Times that it must have been looked at without progress, however long that took: a host that
  /// was stopped meanwhile has not seen what lies in its socket.
  static let looksMinimum = 3

  /// Between two signs of progress lie four exchanges at most: an object is executed, the next one
  /// created, filled, and its checksum asked for.
  private static let slowLinkIntervals = 8

  private let limit: Duration
  private var furthest = Marks()
  private var since: LinkInstant
  private var looks = 0

  init(limit: Duration, at now: LinkInstant) {
    self.limit = limit
    since = now
  }

  /// - Parameters:
  ///   - client: on a link with long connection intervals each exchange takes two of them.
  ///   - context: has the limit and the clock.
  ///   - longer: what the device may be at work for without getting further.
  public init(with client: GATTClient, _ context: UpdateContext, longer: Duration = .zero) {
    let interval = client.linkFacts.connectionInterval ?? .zero
    self.init(
      limit: context.options.stallLimit + interval * Self.slowLinkIntervals + longer,
      at: context.clock.now)
  }

  /// Takes note of where the device stands, after something was heard of it or waited for.
  ///
  /// - Throws: `.stalled` when it has got no further for longer than the limit.
  public mutating func check(_ marks: Marks, at now: LinkInstant) throws(UpdateFault) {
    let highest = Marks(
      acknowledged: max(furthest.acknowledged, marks.acknowledged),
      durable: max(furthest.durable, marks.durable), granted: max(furthest.granted, marks.granted))
    guard highest == furthest else {
      furthest = highest
      since = now
      looks = 0
      return
    }
    looks += 1
    let waited = since.duration(to: now)
    guard looks < Self.looksMinimum || waited <= limit else {
      throw .stalled(atOffset: marks.acknowledged, waited: waited)
    }
  }

  /// What was taken from `offset` on is to be sent again, so that the way back to the furthest
  /// point is progress too. The caller bounds how often that may be.
  public mutating func fellBack(to offset: Int) {
    furthest.acknowledged = min(furthest.acknowledged, offset)
  }

  /// Bytes are sent again: the device has all of its time for them, and so has the link, which may
  /// need a large part of the limit for one window. The caller limits how often.
  mutating func resends(at now: LinkInstant) {
    since = now
    looks = 0
  }
}
