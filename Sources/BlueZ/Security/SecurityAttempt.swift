import OtaflashATT
import OtaflashGATT

/// One attempt to secure the link to a device, with or without somebody who answers the kernel.
struct SecurityAttempt: Sendable {
  private let device: BluetoothAddress
  private let agent: PairingAgent?
  /// The devices were paired before this attempt.
  private let wasBonded: Bool
  /// Why nobody answers the kernel, where nobody does.
  private let obstacle: SecurityFault?
  /// Told by the agent when the attempt has failed.
  let end = OneShot<PairingAgent.PairingEnd>()

  /// - Throws: `.notPaired` when a pairing would be needed and is not wanted.
  init(on device: BluetoothAddress, with agent: PairingAgent?) throws(SecurityFault) {
    self.device = device
    self.agent = agent
    wasBonded = agent?.bond(with: device) != nil
    switch agent?.standing {
    case .leftToDaemon:
      obstacle = nil
    case .serving:
      obstacle = nil
      guard agent?.makesBonds == true || wasBonded else { throw .notPaired }
    case .unavailable(.permissionDenied):
      obstacle = .permissionDenied(
        cause: "Without bluetoothd, pairing and the keys of earlier pairings need CAP_NET_ADMIN.",
        remedy: .grantCapabilities)
    case .unavailable(let fault):
      obstacle = .pairingFailed(
        reason: "The adapter cannot be prepared. " + fault.explanation,
        remedy: fault.remedy ?? .examineSystem)
    case .idle, .stopped, nil:
      obstacle = .notPaired
    }
    agent?.wait(for: device, end)
  }

  /// Whether a person, or bluetoothd, may be asked something meanwhile.
  var needsPerson: Bool { obstacle == nil && !wasBonded }

  func finish() { agent?.wait(for: device, nil) }

  func fault(_ end: PairingAgent.PairingEnd) -> SecurityFault {
    switch end {
    case .disconnected(.authenticationFailure) where wasBonded, .failed(.notPaired):
      .bondForgotten
    case .disconnected(.authenticationFailure):
      .pairingFailed(reason: "The keys of the two devices did not fit.")
    case .disconnected(.timedOut): .linkLost(.supervisionTimeout)
    case .disconnected(.byDevice): .linkLost(.closedByPeer)
    case .disconnected(.byThisComputer), .disconnected(.unknown):
      .pairingFailed(reason: "The kernel gave up the link while the devices were paired.")
    case .failed(let status):
      .pairingFailed(
        reason: "The device refused, the passkey was wrong, or there was no answer (\(status)).")
    }
  }

  /// A link that ended without anybody saying why.
  func fault(_ loss: LinkLoss) -> SecurityFault {
    if let obstacle { return obstacle }
    return wasBonded || loss == .keysRefused ? .bondForgotten : .linkLost(loss)
  }

  func timeIsUp(_ limit: Duration) -> SecurityFault { obstacle ?? .timedOut(after: limit) }
}

extension PairingAgent {
  var standing: Standing { state.withLock { $0.standing } }
}
