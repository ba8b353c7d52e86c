import COtaflashBluetooth
import Glibc
import OtaflashATT
import OtaflashGATT

/// Security through the kernel's Security Manager, raised on the existing link when ATT errors 0x05
/// and 0x0F require it (Core 5.4, Vol 3, Part C, 10.3).
extension L2CAPLink {
  /// The time limit for encryption with a stored key, which needs a few connection events.
  private static let encryptionLimit = Duration.seconds(5)
  /// The time limit for pairing: the user reads and enters six digits, and the Security Manager
  /// waits for 30 s at each step.
  private static let pairingLimit = Duration.seconds(75)
  /// The maximum wait for the Security Manager: a link is reported as connected shortly before the
  /// kernel's Security Manager has opened its channel on the link.
  private static let managerLimit = Duration.milliseconds(200)
  private static let managerPause = Duration.milliseconds(5)
  /// The maximum wait, after a link has ended, for the reason: the reason and the end arrive over
  /// different sockets.
  private static let reasonLimit = Duration.seconds(1)

  /// The kernel registers its Security Manager when an adapter is switched on while the management
  /// interface is in use; `hciconfig up` does not use the management interface.
  private static let noSecurityManager =
    "The kernel cannot pair on an adapter switched on by `hciconfig up`; switch it off and "
    + "on with `btmgmt power off` and `btmgmt power on`."

  public var security: AttributeSecurity {
    let level = socket.withDescriptor { raw -> UInt8 in
      var current = bt_security()
      do throws(SystemError) {
        try SocketOption.get(raw, SOL_BLUETOOTH, BT_SECURITY, into: &current)
      } catch {
        // A link that has ended offers no security.
        return 0
      }
      return current.level
    }
    guard let level, level >= SecurityLevel.medium.rawValue else { return [] }
    return level >= SecurityLevel.high.rawValue ? [.encryption, .authentication] : .encryption
  }

  /// Raises the security of the link (`Link`). After a failed pairing the kernel's channel no
  /// longer carries data (`smp_failure`), so the link is closed.
  public func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault) {
    guard !security.isSuperset(of: wanted) else { return }
    guard let peer else { throw .linkLost(.closedLocally) }
    let attempt = try SecurityAttempt(on: peer, with: pairing)
    defer { attempt.finish() }
    do throws(SecurityFault) {
      if try await request(wanted) { try await wait(for: attempt) }
    } catch {
      close()
      throw error
    }
    let reached = security
    guard reached.isSuperset(of: wanted) else { throw .insufficient(reached: reached) }
  }

  /// Requests a security level from the kernel. Returns `false` if the link has reached the level
  /// without the request.
  private func request(_ wanted: AttributeSecurity) async throws(SecurityFault) -> Bool {
    let level = wanted.contains(.authentication) ? SecurityLevel.high : .medium
    let deadline = EventLoop.shared.now.advanced(by: Self.managerLimit)
    while !security.isSuperset(of: wanted) {
      switch set(level) {
      case 0: return true
      // The kernel logs this error as "security requested but not available".
      case EINVAL:
        guard EventLoop.shared.now < deadline else {
          throw .pairingFailed(reason: Self.noSecurityManager)
        }
      case nil: throw .linkLost(.closedLocally)
      case let number?: throw .linkLost(LinkLoss(socketError: number))
      }
      let next = EventLoop.shared.now.advanced(by: Self.managerPause)
      guard await EventLoop.shared.sleep(until: next) else { throw .cancelled }
    }
    return false
  }

  /// Returns the error number of the system call, or 0 on success; `nil` after the socket is
  /// closed.
  private func set(_ level: SecurityLevel) -> Int32? {
    socket.withDescriptor { raw -> Int32 in
      do throws(SystemError) {
        try SocketOption.set(
          raw, SOL_BLUETOOTH, BT_SECURITY, bt_security(level: level.rawValue, key_size: 0))
        return 0
      } catch {
        return error.number
      }
    }
  }

  // MARK: Waiting

  private enum Part {
    case secured
    case lost(LinkLoss)
    case ended(PairingAgent.PairingEnd)
    case timeIsUp
    case cancelled
  }

  /// Waits until the channel accepts PDUs again, the pairing has failed, or the link has ended.
  private func wait(for attempt: SecurityAttempt) async throws(SecurityFault) {
    let limit = attempt.needsPerson ? Self.pairingLimit : Self.encryptionLimit
    let result = await withTaskGroup(of: Part.self) { group -> Result<Void, SecurityFault> in
      defer { group.cancelAll() }
      group.addTask { await self.channel(until: EventLoop.shared.now.advanced(by: limit)) }
      group.addTask { await attempt.end.wait().map(Part.ended) ?? .cancelled }
      var loss: LinkLoss?
      for await part in group {
        switch part {
        case .secured: return .success(())
        case .ended(let end): return .failure(attempt.fault(end))
        case .cancelled: return .failure(loss.map(attempt.fault) ?? .cancelled)
        case .timeIsUp: return .failure(loss.map(attempt.fault) ?? attempt.timeIsUp(limit))
        case .lost(let cause):
          loss = cause
          group.addTask {
            let deadline = EventLoop.shared.now.advanced(by: Self.reasonLimit)
            return await EventLoop.shared.sleep(until: deadline) ? .timeIsUp : .cancelled
          }
        }
      }
      return .failure(.cancelled)
    }
    try result.get()
  }

  private func channel(until deadline: LinkInstant) async -> Part {
    do throws(LinkLoss) {
      let hungUp = try await socket.wait(for: .writable, until: deadline)
      return hungUp ? .lost(LinkLoss(socketError: ECONNABORTED)) : .secured
    } catch {
      switch error {
      case .cancelled: return .cancelled
      case .failed(ETIMEDOUT, _): return .timeIsUp
      default: return .lost(error)
      }
    }
  }
}
