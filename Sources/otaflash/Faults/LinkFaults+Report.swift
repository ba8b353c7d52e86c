import OtaflashATT
import OtaflashBlueZ
import OtaflashGATT
import OtaflashUpdate

extension FaultReport {
  /// Why no link came up. The transport's own sentences name cause and remedy.
  init(_ fault: ConnectFault, in context: FaultContext) {
    switch fault {
    case .adapterUnavailable(let cause, let remedy):
      self.init(
        .noAdapter, "no Bluetooth adapter can be used", why: cause + " " + remedy,
        help: context.doctor, exit: .deviceUnavailable)
    case .deviceNotFound(let cause, let remedy):
      self.init(
        .deviceNotFound, "the device was not found", why: cause + " " + remedy,
        help: context.again, exit: .deviceUnavailable, retryable: true)
    case .busy(let cause, let remedy):
      self.init(
        .deviceBusy, "the device is in use", why: cause + " " + remedy,
        help: context.again, exit: .deviceUnavailable, retryable: true)
    case .permissionDenied(let cause, let remedy):
      self.init(
        .permission, "a permission is missing", why: cause + " " + remedy,
        help: context.doctor, exit: .permissionDenied)
    case .systemCall(let name, let errno, let cause, let remedy):
      self.init(
        .systemCall, "\(name) failed: \(SystemError.text(errno))", why: cause + " " + remedy,
        help: context.doctor, exit: .systemCall)
    case .lostWhileConnecting(let loss):
      self.init(
        .linkLost, "the link came up and was lost at once", why: loss.sentence,
        help: context.again, exit: .linkLost, retryable: true)
    case .cancelled:
      self.init(
        .interrupted, "connecting was stopped", why: "Nothing was sent to the device.",
        help: context.again, exit: .linkLost, retryable: true)
    }
  }

  /// Why devices could not be looked for.
  init(_ fault: MgmtFault, in context: FaultContext) {
    self =
      switch fault {
      case .adapterUnavailable(let cause, let remedy):
        FaultReport(ConnectFault.adapterUnavailable(cause: cause, remedy: remedy), in: context)
      case .permissionDenied(let cause, let remedy):
        FaultReport(ConnectFault.permissionDenied(cause: cause, remedy: remedy), in: context)
      case .busy(let cause, let remedy):
        FaultReport(
          .noAdapter, "the adapter is in use", why: cause + " " + remedy, help: context.again,
          exit: .deviceUnavailable, retryable: true)
      case .unsupported(let cause, let remedy):
        FaultReport(
          .noAdapter, "the adapter cannot scan like that", why: cause + " " + remedy,
          help: context.doctor, exit: .deviceUnavailable)
      case .refused(let opcode, let status):
        FaultReport(
          .noAdapter, "the adapter refused to scan: \(status)",
          why: "Management command \(Text.hex(UInt32(opcode))) failed.", help: context.doctor,
          exit: .deviceUnavailable)
      case .noAnswer:
        FaultReport(
          .noAdapter, "the adapter does not answer", why: "Its driver or its firmware hangs.",
          help: context.doctor, exit: .deviceUnavailable)
      case .malformed:
        FaultReport(
          .systemCall, "the kernel's answer about the adapter makes no sense",
          why: "This kernel is newer or older than otaflash knows.", help: context.doctor,
          exit: .systemCall)
      case .socket(let loss):
        FaultReport(
          .systemCall, "the kernel's management socket failed", why: loss.sentence,
          help: context.doctor, exit: .systemCall)
      case .systemCall(let name, let errno):
        FaultReport(
          .systemCall, "\(name) failed: \(SystemError.text(errno))",
          why: "The kernel's management interface cannot be used.", help: context.doctor,
          exit: .systemCall)
      case .cancelled:
        FaultReport(
          .interrupted, "scanning was stopped", why: "Nothing was sent to any device.",
          help: context.again, exit: .linkLost, retryable: true)
      }
  }

  /// A GATT procedure that failed, and by whose doing.
  init(_ fault: GATTFault, during stage: UpdateStage, in context: FaultContext) {
    switch fault {
    case .refused(let handle, let code):
      self.init(
        code.wantsRight ? .permission : .deviceRefused,
        "the device refused attribute \(handle) during \(stage.rawValue)",
        why: "ATT error \(Text.hex(code.rawValue)): \(code.meaning).",
        help: context.inspectDevice,
        exit: code.wantsRight ? .permissionDenied : .protocolBroken)
    case .insecure(_, let code, let fault):
      self.init(fault, wantedBy: code, in: context)
    case .violation(let detail):
      self.init(
        .protocolViolation, "the device broke the attribute protocol during \(stage.rawValue)",
        why: detail, help: context.inspectDevice, exit: .protocolBroken)
    case .transactionTimedOut:
      self.init(
        .linkLost, "the device did not answer a request in time",
        why: "A request has 30 s, or what --transaction-limit says; then the connection is over.",
        help: context.again, exit: .linkLost, retryable: true)
    case .linkLost(let loss):
      self.init(
        .linkLost, "the link was lost during \(stage.rawValue)", why: loss.sentence,
        help: context.again, exit: .linkLost, retryable: true)
    case .cancelled:
      self.init(
        .interrupted, "the work was stopped during \(stage.rawValue)",
        why: "The device ends the session by itself.", help: context.again, exit: .linkLost,
        retryable: true)
    case .timedOut(let limit):
      self.init(
        .stalled, "the device took longer than \(Text.seconds(limit)) during \(stage.rawValue)",
        why: "It may be busy, or out of range.", help: context.again, exit: .linkLost,
        retryable: true)
    case .notFound(let uuid):
      self.init(
        .noUpdateService, "the device has no attribute \(uuid)",
        why: "It is the wrong device, or its firmware must first be put into update mode.",
        help: context.inspectDevice, exit: .protocolBroken)
    case .notPermitted(let uuid, let needs):
      self.init(
        .protocolViolation, "characteristic \(uuid) of the device lacks '\(needs)'",
        why: "Its update service is not built as the protocol wants it.",
        help: context.inspectDevice, exit: .protocolBroken)
    case .queueFull(let limit):
      self.init(
        .bug, "more than \(limit) procedures waited for the device at once",
        why: "This is an error in otaflash; please report it with the output of -vvv.",
        help: context.again(with: "-vvv"), exit: .bug)
    case .unsubscribed:
      self.init(
        .bug, "the subscription to the device was ended during \(stage.rawValue)",
        why: "This is an error in otaflash; please report it with the output of -vvv.",
        help: context.again(with: "-vvv"), exit: .bug)
    case .mtuOutOfRange(let octets):
      self.init(
        .bug, "an ATT_MTU of \(octets) was asked for; 23 to 517 are possible",
        why: "This is an error in otaflash; please report it with the output of -vvv.",
        help: context.again(with: "-vvv"), exit: .bug)
    case .valueTooLong(let octets, let limit):
      self.init(
        .bug, "a value of \(octets) octets was to be written where \(limit) fit",
        why: "This is an error in otaflash; please report it with the output of -vvv.",
        help: context.again(with: "-vvv"), exit: .bug)
    }
  }
}

extension LinkLoss {
  /// What happened to the link, as a whole sentence.
  var sentence: String {
    switch self {
    case .closedByPeer: "The device ended the connection."
    case .closedLocally: "This side ended the connection."
    case .supervisionTimeout: "Nothing was heard from the device: it is out of range or off."
    case .cancelled: "The wait was cancelled."
    case .tooLarge(let octets, let limit):
      "A packet of \(octets) octets was to be sent where \(limit) fit."
    case .failed(_, let reason): reason
    }
  }
}

extension ATTErrorCode {
  /// The device wants pairing, encryption or another right first.
  var wantsRight: Bool {
    [
      .insufficientAuthentication, .insufficientAuthorization, .insufficientEncryption,
      .encryptionKeySizeTooShort, ATTErrorCode(0x83),
    ].contains(self)
  }

  /// The code's meaning (Core 5.4, Vol 3, Part F, 3.4.1.1; docs/ota-service.md, 3).
  var meaning: String {
    switch self {
    case .invalidHandle: "no such attribute"
    case .readNotPermitted: "it cannot be read"
    case .writeNotPermitted: "it cannot be written"
    case .invalidPDU: "the request was malformed"
    case .insufficientAuthentication: "the devices must be paired first"
    case .requestNotSupported: "the request is not supported"
    case .invalidOffset: "the offset is beyond the value"
    case .insufficientAuthorization: "not authorized"
    case .prepareQueueFull: "too many prepared writes"
    case .attributeNotFound: "no attribute in the range"
    case .attributeNotLong: "it is not a long attribute"
    case .encryptionKeySizeTooShort: "the encryption key is too short"
    case .invalidAttributeValueLength: "the value's length is not accepted"
    case .unlikelyError: "an unlikely error"
    case .insufficientEncryption: "the link must be encrypted first"
    case .unsupportedGroupType: "the group type is not supported"
    case .insufficientResources: "the device is out of resources"
    case .databaseOutOfSync: "the client's view of the device is out of date"
    case .valueNotAllowed: "the value is not allowed"
    case .writeRequestRejected: "the write was rejected"
    case .clientConfigurationImproperlyConfigured: "indications are not switched on"
    case .procedureAlreadyInProgress: "a procedure is already in progress"
    case .outOfRange: "the value is out of range"
    case ATTErrorCode(0x80): "the update service is busy"
    case ATTErrorCode(0x81): "data did not start at the next offset"
    case ATTErrorCode(0x82): "no update session is open"
    case ATTErrorCode(0x83): "the connection is not authorized"
    default: "a code of the application's own"
    }
  }
}
