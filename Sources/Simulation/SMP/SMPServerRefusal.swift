import OtaflashWire

/// Why a request is not carried out.
enum SMPServerRefusal: Error, Equatable, Sendable {
  case general(SMPServer.GeneralError)
  case image(SMPImageError)
  /// A code of the group for the system.
  case system(Int)
}

/// The codes of the image group (version 2).
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

  /// What the first version makes of it.
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
  /// What mcumgr of 2021 answers.
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
  /// `rc` of every group.
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
