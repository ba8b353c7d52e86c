import OtaflashDelta
import OtaflashFirmware

/// The report of a device with the OTA service about its receiver: the input of a time prediction,
/// except the speed of its flash, which no device reports.
package struct ReceiverFacts: Equatable, Sendable {
  /// Bytes of flash that are erased at a time.
  package let pageSize: Int
  /// In bytes.
  package let bufferSize: Int
  /// In bytes.
  package let slotSize: Int
  package let erasesAhead: Bool
  /// `nil` = no support for patches, or not asked.
  package let decoder: DecoderAbilities?
  /// The base of its patches; `nil` if the device does not report it.
  package let running: ContentIdentity?

  init(_ session: OTASession) {
    pageSize = session.info.pageSize
    bufferSize = session.info.bufferSize
    slotSize = session.info.slotSize
    erasesAhead = session.info.erasesAhead
    decoder = session.patching?.abilities
    running = session.patching?.running
  }
}
