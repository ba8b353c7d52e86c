/// The flow of an update's bytes, which explains its rate.
public struct TransferFlow: Equatable, Sendable {
  /// The write mode of the last upload; never `auto` if the device supports only one kind of write.
  public var mode: WriteMode
  /// The link at the end of the last upload.
  public var link: LinkReport
  /// The sum of the waits of all uploads of the update.
  public var waits: TransferWaits

  /// Creates the flow of an update.
  ///
  /// - Parameters:
  ///   - mode: the write mode.
  ///   - link: the link at the end.
  ///   - waits: the waits of all uploads.
  public init(mode: WriteMode, link: LinkReport, waits: TransferWaits) {
    self.mode = mode
    self.link = link
    self.waits = waits
  }
}

/// The flow of one period of an upload, with the waits that limited its rate.
public struct TransferStretch: Equatable, Sendable {
  /// The write mode, the link and the waits of the stretch.
  public var flow: TransferFlow
  /// The number of bytes sent, including repeated bytes.
  public var bytesSent: Int
  /// The length of the stretch, one second or more.
  public var took: Duration

  /// Creates the flow of a period.
  ///
  /// - Parameters:
  ///   - flow: the flow of the stretch.
  ///   - bytesSent: the number of bytes sent, including repeated bytes.
  ///   - took: the length of the stretch.
  public init(flow: TransferFlow, bytesSent: Int, took: Duration) {
    self.flow = flow
    self.bytesSent = bytesSent
    self.took = took
  }
}

/// The waits of an upload.
public struct TransferWaits: Equatable, Sendable {
  /// The time in which the device's window permitted no data before the device's next message.
  public var device = Duration.zero
  /// The part of `device` in which the device's flash was busy. For the OTA service, the flash
  /// counts as busy while more than half of the device's buffer is in use.
  public var flash = Duration.zero
  /// The time spent waiting for space in the transport's queue, or for a link that needs several
  /// round trips to carry the device's window. The air or the operating system causes this wait.
  public var transport = Duration.zero
  /// The time spent waiting for responses to writes with response.
  public var responses = Duration.zero

  /// Creates a value without waits.
  public init() {}

  /// Returns the waits since `earlier`.
  func since(_ earlier: TransferWaits) -> TransferWaits {
    var waits = self
    waits.device -= earlier.device
    waits.flash -= earlier.flash
    waits.transport -= earlier.transport
    waits.responses -= earlier.responses
    return waits
  }
}
