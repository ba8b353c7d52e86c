import OtaflashDelta
import OtaflashFirmware

/// The receiver properties that a device with the OTA service reports. A time prediction uses these
/// properties, together with the speed of the flash, which no device reports.
package struct ReceiverFacts: Equatable, Sendable {
  /// The number of flash bytes that are erased at a time.
  package let pageSize: Int
  /// The size of the receive buffer in bytes.
  package let bufferSize: Int
  /// The size of the slot in bytes.
  package let slotSize: Int
  package let erasesAhead: Bool
  /// Whether pages that already hold their data are neither erased nor written.
  package let keepsPages: Bool
  /// The abilities of the decoder; `nil` = the device does not support patches, or was not asked.
  package let decoder: DecoderAbilities?
  /// The rate of the decoder in image bytes per second; `nil` = not reported.
  package let decodingRate: Int?
  /// The base of patches for the device; `nil` if the device does not report it.
  package let running: ContentIdentity?

  init(_ session: OTASession) {
    pageSize = session.info.pageSize
    bufferSize = session.info.bufferSize
    slotSize = session.info.slotSize
    erasesAhead = session.info.erasesAhead
    keepsPages = session.info.keepsPages
    decoder = session.patching?.abilities
    decodingRate = session.patching?.info.decodingRate
    running = session.patching?.running
  }
}
