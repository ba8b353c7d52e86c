/// The flow of an update's bytes, which explains its rate.
public struct TransferFlow: Equatable, Sendable {
  /// The last write mode; never `auto` if the device supports only one kind of write.
  public var mode: WriteMode
  /// The link at the end of the last upload.
  public var link: LinkReport
  /// The sum of the waits of all uploads of the update.
  public var waits: TransferWaits

  /// - Parameters:
  ///   - mode: the write mode.
  ///   - link: the link at the end.
  ///   - waits: the waits.
  public init(mode: WriteMode, link: LinkReport, waits: TransferWaits) {
    self.mode = mode
    self.link = link
    self.waits = waits
  }
}

/// A stretch of an upload, and what limited it.
public struct TransferStretch: Equatable, Sendable {
  /// The write mode, the link and the waits of the stretch.
  public var flow: TransferFlow
  /// Bytes sent, repeats included.
  public var bytesSent: Int
  /// A second or more.
  public var took: Duration

  /// - Parameters:
  ///   - flow: the flow of the stretch.
  ///   - bytesSent: repeats included.
  ///   - took: the length of the stretch.
  public init(flow: TransferFlow, bytesSent: Int, took: Duration) {
    self.flow = flow
    self.bytesSent = bytesSent
    self.took = took
  }
}

/// The waits of an upload.
public struct TransferWaits: Equatable, Sendable {
  /// For the device's window: no data was permitted before the next message of the device.
  public var device = Duration.zero
  /// The part of `device` in which more than half of the device's buffer was not yet in flash.
  public var flash = Duration.zero
  /// For space in the transport's queue, which the air or the system limits.
  public var transport = Duration.zero
  /// For the responses to writes with response.
  public var responses = Duration.zero

  /// No waits.
  public init() {}

  /// The waits since `earlier`.
  func since(_ earlier: TransferWaits) -> TransferWaits {
    var waits = self
    waits.device -= earlier.device
    waits.flash -= earlier.flash
    waits.transport -= earlier.transport
    waits.responses -= earlier.responses
    return waits
  }
}
