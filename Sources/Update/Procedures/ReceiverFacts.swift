import OtaflashDelta
import OtaflashFirmware

/// What a device with the OTA service tells of how it takes images: all that a prediction of their
/// time wants to know of it, but how long its flash takes, which no device tells.
package struct ReceiverFacts: Equatable, Sendable {
  /// Bytes of flash that are erased at a time.
  package let pageSize: Int
  /// In bytes.
  package let bufferSize: Int
  /// In bytes.
  package let slotSize: Int
  package let erasesAhead: Bool
  /// `nil` = it takes no patches, or it was not asked.
  package let decoder: DecoderAbilities?
  /// What it makes images out of; `nil` where it does not tell.
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
