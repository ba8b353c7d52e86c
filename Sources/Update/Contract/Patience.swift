import OtaflashATT
import OtaflashGATT

/// The time limit of a device that makes no progress. Every protocol and the benchmark use it.
///
/// Only a new maximum counts as progress. A window that opens and closes, an offset that
/// oscillates, and a refusal that is withdrawn every second do not count, because such a device
/// would occupy the host indefinitely.
public struct Patience: Sendable {
  /// The measures of progress, in bytes of the sent content.
  public struct Marks: Equatable, Sendable {
    /// The number of bytes that the device acknowledged.
    public var acknowledged = 0
    /// The number of bytes in the device's flash.
    public var durable = 0
    /// The offset up to which the device permits bytes.
    public var granted = 0

    /// Creates the measures of one point in time.
    ///
    /// - Parameters:
    ///   - acknowledged: 0 to the size of the content.
    ///   - durable: 0 if the device does not report it.
    ///   - granted: 0 if the device does not report it.
    public init(acknowledged: Int = 0, durable: Int = 0, granted: Int = 0) {
      self.acknowledged = acknowledged
      self.durable = durable
      self.granted = granted
    }
  }

  /// The minimum number of checks without progress before the limit applies. After a suspension of
  /// the host, the limit has expired, but the socket may contain answers that are not read yet.
  static let looksMinimum = 3

  /// The longest time between two signs of progress, in connection intervals: four exchanges of two
  /// intervals each. The exchanges are: execute an object, create the next object, fill it, and
  /// request its checksum.
  private static let slowLinkIntervals = 8

  private let limit: Duration
  private var furthest = Marks()
  private var since: LinkInstant
  private var looks = 0

  init(limit: Duration, at now: LinkInstant) {
    self.limit = limit
    since = now
  }

  /// Starts the time limit for a device on a link.
  ///
  /// - Parameters:
  ///   - client: the client of the link. Each exchange takes two connection intervals of the link,
  ///     so long intervals raise the limit.
  ///   - context: provides the limit and the clock.
  ///   - longer: the additional time that the device may work without progress.
  public init(with client: GATTClient, _ context: UpdateContext, longer: Duration = .zero) {
    let interval = client.linkFacts.connectionInterval ?? .zero
    self.init(
      limit: context.options.stallLimit + interval * Self.slowLinkIntervals + longer,
      at: context.clock.now)
  }

  /// Records the progress of the device, after an answer or a wait.
  ///
  /// - Throws: `.stalled` after a time without progress that exceeds the limit, and after at least
  ///   three checks in this time.
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

  /// Records that the bytes starting at `offset` must be sent again, so that reaching the previous
  /// maximum again counts as progress. The caller limits the number of these calls.
  public mutating func fellBack(to offset: Int) {
    furthest.acknowledged = min(furthest.acknowledged, offset)
  }

  /// Restarts the time limit because bytes are sent again: one window may take a large part of the
  /// limit on this link. The caller limits the number of these calls.
  mutating func resends(at now: LinkInstant) {
    since = now
    looks = 0
  }
}
