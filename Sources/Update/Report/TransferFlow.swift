/// How the bytes of an update flowed: what its rate can be explained by.
public struct TransferFlow: Equatable, Sendable {
  /// How data was written in the end; never `auto` where the device takes one kind of write alone.
  public var mode: WriteMode
  /// The link at the end of the last upload.
  public var link: LinkReport
  /// What all uploads of the update waited for, one after the other.
  public var waits: TransferWaits

  /// - Parameters:
  ///   - mode: how data was written.
  ///   - link: the link at the end.
  ///   - waits: what was waited for.
  public init(mode: WriteMode, link: LinkReport, waits: TransferWaits) {
    self.mode = mode
    self.link = link
    self.waits = waits
  }
}

/// A stretch of an upload: what held it back then.
public struct TransferStretch: Equatable, Sendable {
  /// How data was written, over which link, and what was waited for in the stretch.
  public var flow: TransferFlow
  /// Bytes sent, repeats included.
  public var bytesSent: Int
  /// A second or more.
  public var took: Duration

  /// - Parameters:
  ///   - flow: what was waited for.
  ///   - bytesSent: repeats included.
  ///   - took: the length of the stretch.
  public init(flow: TransferFlow, bytesSent: Int, took: Duration) {
    self.flow = flow
    self.bytesSent = bytesSent
    self.took = took
  }
}

/// What an upload waits for.
public struct TransferWaits: Equatable, Sendable {
  /// The device's window: nothing might be sent until the device had spoken.
  public var device = Duration.zero
  /// Of this, while more than half of what the device's buffer holds was not in its flash yet.
  public var flash = Duration.zero
  /// Room in the transport's queue: the air, or the system, takes no more for now.
  public var transport = Duration.zero
  /// The answers to writes with response.
  public var responses = Duration.zero

  /// Nothing was waited for.
  public init() {}

  /// What was waited for since.
  func since(_ earlier: TransferWaits) -> TransferWaits {
    var waits = self
    waits.device -= earlier.device
    waits.flash -= earlier.flash
    waits.transport -= earlier.transport
    waits.responses -= earlier.responses
    return waits
  }
}
