import OtaflashWire

/// The reason why a request is rejected.
enum SMPServerRefusal: Error, Equatable, Sendable {
  case general(SMPServer.GeneralError)
  case image(SMPImageError)
  /// An error code of the OS management group.
  case system(Int)
  /// An error code of the file group, and the additional field `len`.
  case file(SMPServer.FileError, length: Int? = nil)
  case settings(SMPServer.SettingsError)
  /// An error code of the statistics group.
  case statistics(Int)
}

/// The error codes of the image management group (version 2).
enum SMPImageError: Int, Sendable {
  case hashNotFound = 8
  case noFreeSlot = 9
  case flashWriteFailed = 12
  case invalidSlot = 14
  case missingOffset = 20
  case invalidLength = 21
  case headerTooShort = 22
  case wrongMagic = 23
  case invalidHash = 24
  case wrongAddress = 25
  case runningIsNewer = 27
  case alreadyPending = 28
  case tooLarge = 30
  case overrun = 31
  case confirmationDenied = 32
  case testOfActiveDenied = 33

  /// The corresponding code of the first version.
  var version1: Int {
    switch self {
    case .hashNotFound, .flashWriteFailed, .tooLarge, .overrun, .confirmationDenied,
      .testOfActiveDenied:
      1
    case .noFreeSlot, .runningIsNewer, .alreadyPending: 6
    case .invalidSlot, .missingOffset, .invalidLength, .headerTooShort, .wrongMagic, .invalidHash,
      .wrongAddress:
      3
    }
  }
}

extension SMPImageError {
  /// The corresponding code of mcumgr in 2021.
  var release2021: Int {
    switch self {
    case .noFreeSlot: 5
    case .alreadyPending: 6
    case .testOfActiveDenied, .flashWriteFailed, .tooLarge, .overrun, .confirmationDenied: 1
    case .hashNotFound, .invalidSlot, .missingOffset, .invalidLength, .headerTooShort, .wrongMagic,
      .invalidHash, .wrongAddress, .runningIsNewer:
      3
    }
  }
}

extension SMPServer {
  /// The `rc` codes that all groups share.
  enum GeneralError: Int, Sendable {
    case unknown = 1
    case noMemory = 2
    case invalid = 3
    case noEntry = 5
    case badState = 6
    case tooBig = 7
    case notSupported = 8
    case busy = 10
    case tooNew = 13
  }
}
