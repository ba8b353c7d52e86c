import OtaflashATT
import OtaflashGATT

/// One attempt to secure the link to a device, with or without an agent for the kernel's requests.
struct SecurityAttempt: Sendable {
  private let device: BluetoothAddress
  private let agent: PairingAgent?
  /// Whether the devices were paired before this attempt.
  private let wasBonded: Bool
  /// The reason why neither the agent nor bluetoothd serves the attempt; `nil` if one of them does.
  private let obstacle: SecurityFault?
  /// The failure of the attempt, which the agent sets.
  let end = OneShot<PairingAgent.PairingEnd>()

  /// Creates an attempt.
  ///
  /// - Throws: `.notPaired` if pairing is needed but not permitted.
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
        reason: "The adapter cannot be configured. " + fault.explanation,
        remedy: fault.remedy ?? .examineSystem)
    case .idle, .stopped, nil:
      obstacle = .notPaired
    }
    agent?.wait(for: device, end)
  }

  /// Whether the attempt may require an answer of the user or of bluetoothd.
  var needsPerson: Bool { obstacle == nil && !wasBonded }

  func finish() { agent?.wait(for: device, nil) }

  func fault(_ end: PairingAgent.PairingEnd) -> SecurityFault {
    switch end {
    case .disconnected(.authenticationFailure) where wasBonded, .failed(.notPaired):
      .bondForgotten
    case .disconnected(.authenticationFailure):
      .pairingFailed(reason: "The keys of the two devices did not match.")
    case .disconnected(.timedOut): .linkLost(.supervisionTimeout)
    case .disconnected(.byDevice): .linkLost(.closedByPeer)
    case .disconnected(.byThisComputer), .disconnected(.unknown):
      .pairingFailed(reason: "The kernel ended the link during pairing.")
    case .failed(let status):
      .pairingFailed(
        reason: "The device refused, the passkey was wrong, or there was no response (\(status)).")
    }
  }

  /// Returns the failure if a link ended without a reported reason.
  func fault(_ loss: LinkLoss) -> SecurityFault {
    if let obstacle { return obstacle }
    return wasBonded || loss == .keysRefused ? .bondForgotten : .linkLost(loss)
  }

  func timeIsUp(_ limit: Duration) -> SecurityFault { obstacle ?? .timedOut(after: limit) }
}

extension PairingAgent {
  var standing: Standing { state.withLock { $0.standing } }
}
