/// What the bootloader keeps in its settings page: the versions in force, and an init packet that
/// was found valid. Progress within an image is not kept (NRF_DFU_SAVE_PROGRESS_IN_FLASH = 0).
struct SecureRecord: Equatable, Sendable {
  /// What an image that waits for its activation makes of the versions.
  enum Pending: UInt32, Sendable {
    case nothing = 0
    case application = 1
    /// A bootloader, a SoftDevice or both: the application is to follow.
    case system = 2
  }

  var applicationVersion: UInt32
  var bootloaderVersion: UInt32
  /// No application can run: its bank is being written to.
  var isApplicationGone = false
  var pending = Pending.nothing
  /// The version that the activation brings.
  var pendingVersion: UInt32 = 0
  /// Empty when none is valid.
  var initPacket: [UInt8] = []

  private static let headerBytes = 20

  init(applicationVersion: UInt32, bootloaderVersion: UInt32) {
    self.applicationVersion = applicationVersion
    self.bootloaderVersion = bootloaderVersion
  }

  /// - Parameter content: of a record page, whose checksum has been compared; `nil` when it is not
  ///   one of these.
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
