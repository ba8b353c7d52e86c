/// The options of the receiver in C, and its faults.
struct ReceiverOptions: Hashable, Sendable {
  /// The state of the running image, which is the base of patches.
  enum Base: String, CaseIterable, Sendable {
    case right
    /// The image cannot be read.
    case lost
    /// PATCH INFO reports the image before the last update.
    case former
    /// The bytes of the image do not match its CRC32, which is detected when they are read.
    case damaged
    /// The image changes after its CRC32 was verified.
    case spoilt
  }

  /// Whether the device accepts patches (docs/ota-service.md, 13).
  var takesPatches = true
  var base = Base.right
  /// The number of the data write that arrives with a bit error in each boot; 0 = no data write.
  var flippedWrite = 0
  /// Whether the device erases pages of its slot before their data arrives, and the complete slot
  /// while the slot holds no data (14).
  var erasesAhead = false
  /// Whether the device neither erases nor writes a page that already holds its data (15). Has no
  /// effect with `erasesAhead`.
  var keepsPages = false
  /// The formats of patches that the device reports, as OTA_DELTA_LEVEL: 1 = format 1, 2 = also
  /// format 2 with heatshrink, 3 = also the range coder.
  var patchLevel = 3
  /// The rate at which the processor decodes patches, in image bytes per second; `nil` = decoding
  /// takes no time, and the device does not report its rate.
  var decodingRate: Int?
}
