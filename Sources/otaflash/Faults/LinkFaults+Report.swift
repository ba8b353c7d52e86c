import OtaflashATT
import OtaflashBlueZ
import OtaflashConsole
import OtaflashDevices
import OtaflashGATT
import OtaflashUpdate

extension FaultReport {
  /// Describes a failed connection.
  init(_ fault: ConnectFault, in context: FaultContext) {
    switch fault {
    case .adapterUnavailable:
      self.init(fault, Verdict(.noAdapter, .deviceUnavailable), help: context.doctor, in: context)
    case .deviceNotFound:
      self.init(
        fault, Verdict(.deviceNotFound, .deviceUnavailable, retryable: true), help: context.again,
        in: context)
    case .busy:
      self.init(
        fault, Verdict(.deviceBusy, .deviceUnavailable, retryable: true), help: context.again,
        in: context)
    case .permissionDenied:
      self.init(fault, Verdict(.permission, .permissionDenied), help: context.doctor, in: context)
    case .systemCall(let name, let errno, _, _):
      self.init(
        fault, Verdict(.systemCall, .systemCall),
        what: "\(name) failed: \(SystemError.text(errno))", help: context.doctor, in: context)
    case .lostWhileConnecting(.keysRefused):
      self.init(fault, Verdict(.bondForgotten, .permissionDenied), help: context.pair, in: context)
    case .lostWhileConnecting:
      self.init(
        fault, Verdict(.linkLost, .linkLost, retryable: true), help: context.again, in: context)
    case .cancelled:
      self.init(
        fault, Verdict(.interrupted, .linkLost, retryable: true), help: context.again, in: context)
    }
  }

  /// Describes a failed scan.
  init(_ fault: MgmtFault, in context: FaultContext) {
    self.init(
      fault, fault.verdict, help: fault.verdict.retryable ? context.again : context.doctor,
      in: context)
  }

  /// Describes a link without the security that the device or the user requires.
  init(_ fault: SecurityFault, in context: FaultContext) {
    self.init(fault, fault.verdict, help: context.pair, in: context)
  }

  /// Describes a failed GATT procedure.
  ///
  /// - Parameter update: the failure of the update that the procedure was part of.
  init(_ fault: GATTFault, of update: UpdateFault, in context: FaultContext) {
    guard fault.isOurs else {
      self.init(update, fault.verdict, help: context.inspectDevice, in: context)
      return
    }
    self.init(
      .bug, update.summary,
      why: "This is an error in otaflash; please report it with the output of -vvv.",
      help: context.again(with: "-vvv"), exit: .bug)
  }
}

extension MgmtFault {
  fileprivate var verdict: FaultReport.Verdict {
    switch self {
    case .adapterUnavailable, .unsupported, .refused, .noAnswer:
      .init(.noAdapter, .deviceUnavailable)
    case .busy: .init(.noAdapter, .deviceUnavailable, retryable: true)
    case .permissionDenied: .init(.permission, .permissionDenied)
    case .malformed, .socket, .systemCall: .init(.systemCall, .systemCall)
    case .cancelled: .init(.interrupted, .linkLost, retryable: true)
    }
  }
}

extension SecurityFault {
  fileprivate var verdict: FaultReport.Verdict {
    switch self {
    case .unsupported, .notPaired: .init(.notPaired, .permissionDenied)
    case .permissionDenied: .init(.permission, .permissionDenied)
    case .bondForgotten: .init(.bondForgotten, .permissionDenied)
    case .pairingFailed, .insufficient: .init(.pairingFailed, .permissionDenied)
    case .timedOut: .init(.pairingFailed, .permissionDenied, retryable: true)
    case .linkLost: .init(.linkLost, .linkLost, retryable: true)
    case .cancelled: .init(.interrupted, .linkLost, retryable: true)
    }
  }
}

extension GATTFault {
  fileprivate var verdict: FaultReport.Verdict {
    switch self {
    // 0x83 is defined by the OTA service (docs/ota-service.md, 3).
    case .refused(_, let code) where code.wantsRight || code == ATTErrorCode(0x83):
      .init(.permission, .permissionDenied)
    case .refused: .init(.deviceRefused, .protocolBroken)
    case .insecure(_, _, let fault): fault.verdict
    case .violation, .notPermitted: .init(.protocolViolation, .protocolBroken)
    case .linkLost(.keysRefused): .init(.bondForgotten, .permissionDenied)
    case .transactionTimedOut, .linkLost: .init(.linkLost, .linkLost, retryable: true)
    case .cancelled: .init(.interrupted, .linkLost, retryable: true)
    case .timedOut: .init(.stalled, .linkLost, retryable: true)
    case .notFound: .init(.noUpdateService, .protocolBroken)
    case .queueFull, .unsubscribed, .mtuOutOfRange, .valueTooLong: .init(.bug, .bug)
    }
  }

  /// Whether the fault is an error in otaflash: no update calls the procedure in this way.
  fileprivate var isOurs: Bool { verdict.code == .bug }
}
