/// The content of the bootloader's settings page: the current versions, and a validated init
/// packet. Progress within an image is not stored (NRF_DFU_SAVE_PROGRESS_IN_FLASH = 0).
struct SecureRecord: Equatable, Sendable {
  /// The effect of the pending image on the versions.
  enum Pending: UInt32, Sendable {
    case nothing = 0
    case application = 1
    /// A bootloader, a SoftDevice or both; an application is sent afterwards.
    case system = 2
  }

  var applicationVersion: UInt32
  var bootloaderVersion: UInt32
  /// Whether no application can run, because the bank of the application is being written.
  var isApplicationGone = false
  var pending = Pending.nothing
  /// The version after the activation.
  var pendingVersion: UInt32 = 0
  /// The stored init packet; empty if no valid init packet is stored.
  var initPacket: [UInt8] = []

  private static let headerBytes = 20

  init(applicationVersion: UInt32, bootloaderVersion: UInt32) {
    self.applicationVersion = applicationVersion
    self.bootloaderVersion = bootloaderVersion
  }

  /// Creates a record; returns `nil` if the content is not a record of this type.
  ///
  /// - Parameter content: the content of a record page whose checksum is verified.
  init?(decoding content: [UInt8]) {
    guard content.count >= Self.headerBytes,
      let pending = Pending(rawValue: content.littleEndianWord(at: 12))
    else { return nil }
    applicationVersion = content.littleEndianWord(at: 0)
    bootloaderVersion = content.littleEndianWord(at: 4)
    isApplicationGone = content.littleEndianWord(at: 8) != 0
    self.pending = pending
    pendingVersion = content.littleEndianWord(at: 16)
    initPacket = Array(content[Self.headerBytes...])
  }

  var encoded: [UInt8] {
    [
      applicationVersion, bootloaderVersion, isApplicationGone ? 1 : 0, pending.rawValue,
      pendingVersion,
    ].flatMap(\.littleEndianBytes) + initPacket
  }
}
