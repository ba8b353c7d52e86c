import OtaflashGATT

/// An upload that a device has agreed to: what `prepare` has learned, and how it goes on.
public struct PreparedUpload: Sendable {
  /// Bytes of the image that the device has already.
  public let offset: Int
  /// Bytes of the image that the device can make of what it has: with a part of a page, more.
  let made: Int
  let send: @Sendable () async throws(UpdateFault) -> Void

  /// - Parameters:
  ///   - offset: 0 up to the size of the image; any other, as only a device can have told it, ends
  ///     the update with `.protocolViolation`.
  ///   - send: sends the rest, and returns when the device has all of the image.
  public init(from offset: Int, send: @escaping @Sendable () async throws(UpdateFault) -> Void) {
    self.init(from: offset, making: offset, send: send)
  }

  /// As above, for a closure with errors of any type. An `UpdateFault` is thrown as it is, a
  /// `GATTFault` as `.gatt(.upload, …)`; any other error ends the update with
  /// `.protocolViolation` and the error's description.
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

/// What a device says when it is asked to prove an image that it has received.
public enum UpdateVerdict: Sendable {
  /// The device holds the image, byte for byte.
  case verified
  /// A part did not hold in flash: the device wants the image from an earlier offset again.
  case wanted(PreparedUpload)
}

extension UpdateFault {
  /// The end of an upload by an error of any type.
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
