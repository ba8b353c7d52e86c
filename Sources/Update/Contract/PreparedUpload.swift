import OtaflashGATT

/// An upload that a device has accepted: its start offset, and the function that sends the
/// remaining bytes.
public struct PreparedUpload: Sendable {
  /// The number of image bytes that the device already holds.
  public let offset: Int
  /// The number of image bytes, including a partial page, that the device can create from the
  /// content that it holds.
  let made: Int
  let send: @Sendable () async throws(UpdateFault) -> Void

  /// Creates an upload that starts at an offset.
  ///
  /// - Parameters:
  ///   - offset: 0 to the size of the image. If a device reports an offset outside this range, the
  ///     update ends with `.protocolViolation`.
  ///   - send: sends the remaining bytes, and returns when the device has the complete image.
  public init(from offset: Int, send: @escaping @Sendable () async throws(UpdateFault) -> Void) {
    self.init(from: offset, making: offset, send: send)
  }

  /// Creates an upload from a closure that throws errors of any type. An `UpdateFault` is rethrown,
  /// a `GATTFault` becomes `.gatt(.upload, …)`, and a `CancellationError` cancels the update. Any
  /// other error ends the update with `.protocolViolation` and the error's description.
  @_disfavoredOverload
  public init(from offset: Int, send: @escaping @Sendable () async throws -> Void) {
    self.init(from: offset) { () async throws(UpdateFault) in
      do { try await send() } catch { throw UpdateFault(ofUpload: error) }
    }
  }

  init(
    from offset: Int, making made: Int,
    send: @escaping @Sendable () async throws(UpdateFault) -> Void
  ) {
    self.offset = offset
    self.made = made
    self.send = send
  }
}

/// The device's answer to the verification of a received image.
public enum UpdateVerdict: Sendable {
  /// The device reports that it holds the image.
  case verified
  /// A part is damaged in flash, so the device requests the image again from an earlier offset.
  case wanted(PreparedUpload)
}

extension UpdateFault {
  /// Creates the fault of an upload that ended with an error of any type.
  fileprivate init(ofUpload error: any Error) {
    self =
      switch error {
      case let fault as UpdateFault: fault
      case let fault as GATTFault: .gatt(.upload, fault)
      case is CancellationError: .gatt(.upload, .cancelled)
      default: .protocolViolation(.upload, "\(error)")
      }
  }
}
