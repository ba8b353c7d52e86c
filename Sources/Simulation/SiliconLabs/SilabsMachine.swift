import OtaflashATT
import OtaflashGATT

/// The rules of a program that receives a GBL file, independent of link and clock. The program
/// passes the writes one at a time, each after the flash operations of the previous write.
protocol SilabsMachine: Sendable {
  /// The reason why data is refused now; `nil` while data is accepted.
  var dataRefusal: ATTErrorCode? { get }
  /// The reason why the transfer failed; `nil` = it did not fail.
  var failure: ATTErrorCode? { get }
  /// The pending action of the device.
  var request: SilabsRequest? { get }

  /// Handles the start of a transfer.
  ///
  /// - Parameter connected: the time since the start of the connection.
  mutating func begin(after connected: Duration) -> (refusal: ATTErrorCode?, [FlashOperation])

  /// Handles the end of the flash operations that `begin` returned.
  mutating func prepared()

  /// Handles a piece of the file.
  mutating func take(_ bytes: [UInt8]) -> [FlashOperation]

  /// Handles the end of the file; the refusal is answered after the flash operations.
  mutating func end() -> (refusal: ATTErrorCode?, [FlashOperation])

  /// Handles a request to close the connection.
  mutating func close()

  mutating func flashFailed()

  /// Handles the end of the connection.
  mutating func disconnected()

  /// Handles the end of `SilabsRequest.pause`.
  mutating func paused() -> [FlashOperation]
}

/// An action that a machine requests from its device.
enum SilabsRequest: Equatable, Sendable {
  /// The device resets when its flash is idle.
  case reset
  /// A new image was accepted; the device resets when its flash is idle.
  case activate
  /// The machine continues after this time.
  case pause(Duration)
}
