/// A value of SERV_STATUS.
struct SUOTAStatus: RawRepresentable, Hashable, Sendable {
  let rawValue: UInt8

  static let serviceStarted = SUOTAStatus(rawValue: 0x01)
  /// A block was received, or the image was accepted.
  static let done = SUOTAStatus(rawValue: 0x02)
  static let exit = SUOTAStatus(rawValue: 0x03)
  static let checksum = SUOTAStatus(rawValue: 0x04)
  static let patchLength = SUOTAStatus(rawValue: 0x05)
  static let flashWrite = SUOTAStatus(rawValue: 0x06)
  static let bufferTooSmall = SUOTAStatus(rawValue: 0x07)
  static let memoryType = SUOTAStatus(rawValue: 0x08)
  static let application = SUOTAStatus(rawValue: 0x09)
  static let imageStarted = SUOTAStatus(rawValue: 0x10)
  static let bank = SUOTAStatus(rawValue: 0x11)
  static let header = SUOTAStatus(rawValue: 0x12)
  static let size = SUOTAStatus(rawValue: 0x13)
  static let productHeader = SUOTAStatus(rawValue: 0x14)
  static let sameImage = SUOTAStatus(rawValue: 0x15)
  static let flashRead = SUOTAStatus(rawValue: 0x16)
  static let sameInactiveImage = SUOTAStatus(rawValue: 0x17)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  init(decoding bytes: [UInt8]) throws(SUOTADecodeFault) {
    guard let first = bytes.first, bytes.count == 1 else { throw .length(bytes.count) }
    rawValue = first
  }

  /// Whether the status reports no error.
  var isGood: Bool { [.serviceStarted, .done, .imageStarted].contains(self) }

  /// Whether a lost or repeated packet can cause the status.
  var mayPass: Bool { [.patchLength, .bufferTooSmall].contains(self) }
}

/// An error in a value of the device; the description is a clause.
enum SUOTADecodeFault: Error, Equatable, Sendable, CustomStringConvertible {
  case length(Int)

  var description: String {
    switch self {
    case .length(let bytes): "a status of \(bytes) bytes, but a status has one byte"
    }
  }
}
