import OtaflashATT
import OtaflashGATT

/// The time limit for a device without progress, for every protocol and for the benchmark.
///
/// Only a new maximum counts as progress. A window that opens and closes, an offset that
/// oscillates, and a refusal that is withdrawn each second do not count: such a device would occupy
/// its host indefinitely.
public struct Patience: Sendable {
  /// The measures of progress, in bytes of the image.
  public struct Marks: Equatable, Sendable {
    /// Bytes that the device acknowledged.
    public var acknowledged = 0
    /// Bytes that are in its flash.
    public var durable = 0
    /// The end of the bytes that the device permits.
    public var granted = 0

    /// - Parameters:
    ///   - acknowledged: 0 to the image's size.
    ///   - durable: 0 if the device does not report it.
    ///   - granted: 0 if the device does not report it.
    public init(acknowledged: Int = 0, durable: Int = 0, granted: Int = 0) {
      self.acknowledged = acknowledged
      self.durable = durable
      self.granted = granted
    }
  }

  /// Required checks without progress, whatever the time: a host that was suspended has not yet
  /// read the data in its socket.
  static let looksMinimum = 3

  /// Two signs of progress are at most four exchanges apart: execute an object, create the next
  /// one, fill it, and request its checksum.
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
  ///   - client: the link; with long connection intervals, each exchange takes two of them.
  ///   - context: provides the limit and the clock.
  ///   - longer: the time that the device may work without progress.
  public init(with client: GATTClient, _ context: UpdateContext, longer: Duration = .zero) {
    let interval = client.linkFacts.connectionInterval ?? .zero
    self.init(
      limit: context.options.stallLimit + interval * Self.slowLinkIntervals + longer,
      at: context.clock.now)
  }

  /// Records the progress of the device, after an answer or a wait.
  ///
  /// - Throws: `.stalled` after longer than the limit without progress.
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

  /// Bytes from `offset` on must be sent again, so the way back to the previous maximum counts as
  /// progress too. The caller limits how often this may happen.
  public mutating func fellBack(to offset: Int) {
    furthest.acknowledged = min(furthest.acknowledged, offset)
  }

  /// Bytes are sent again, and the time starts over: one window may take a large part of the limit
  /// on this link. The caller limits how often.
  mutating func resends(at now: LinkInstant) {
    since = now
    looks = 0
  }
}
