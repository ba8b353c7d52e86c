import COtaflashBluetooth
import Glibc
import OtaflashATT
import OtaflashGATT
import Synchronization

/// A session with the kernel's management interface. Only one task may use a session at a time.
package final class MgmtSession: Sendable {
  /// The size of the longest packet in bytes; an extended advertisement has up to 1650 bytes.
  private static let packetMaximum = 4096
  /// The maximum number of events kept while a command waits for its response. The oldest
  /// events are dropped first; most events are advertisements, which devices repeat.
  private static let backlogMaximum = 256
  /// The time limit of a response from the kernel.
  static let answerLimit = Duration.seconds(5)

  private let answerLimit: Duration
  private let socket: SeqpacketSocket
  private let backlog = Mutex<[MgmtPacket]>([])

  /// Opens the control socket. Commands that only read need no capability; commands that change
  /// settings need CAP_NET_ADMIN.
  package convenience init() throws(MgmtFault) {
    let raw = Glibc.socket(AF_BLUETOOTH, otaflash_raw_type, BTPROTO_HCI)
    guard raw >= 0 else { throw MgmtFault(openError: errno, call: "socket") }
    let descriptor = FileDescriptor(owning: raw)
    var address = sockaddr_hci()
    address.hci_family = sa_family_t(AF_BLUETOOTH)
    address.hci_dev = UInt16(HCI_DEV_NONE)
    address.hci_channel = UInt16(HCI_CHANNEL_CONTROL)
    let result = withSocketAddress(address) { bind(raw, $0, $1) == 0 ? 0 : errno }
    guard result == 0 else { throw MgmtFault(openError: result, call: "bind") }
    try self.init(descriptor)
  }

  /// Uses a socket that is already open, for example in a test.
  init(
    _ descriptor: consuming FileDescriptor, answerLimit: Duration = MgmtSession.answerLimit
  ) throws(MgmtFault) {
    self.answerLimit = answerLimit
    do throws(SystemError) {
      socket = try SeqpacketSocket(descriptor, maximumSize: Self.packetMaximum)
    } catch {
      throw .systemCall(name: "epoll_ctl", errno: error.number)
    }
  }

  func close() { socket.close() }

  /// Executes one command and returns the parameters of the response.
  @discardableResult
  func perform(
    _ command: MgmtCommand, index: UInt16 = MgmtCommand.noIndex
  ) async throws(MgmtFault) -> [UInt8] {
    let deadline = EventLoop.shared.now.advanced(by: answerLimit)
    do throws(LinkLoss) {
      try await socket.send(command.encoded(index: index), until: deadline)
    } catch {
      throw MgmtFault(error)
    }
    while let packet = try await receive(until: deadline) {
      switch packet.event {
      case .commandComplete(command.opcode, .success, let parameters) where packet.index == index:
        return parameters
      case .commandComplete(command.opcode, let status, _) where packet.index == index,
        .commandStatus(command.opcode, let status) where packet.index == index:
        throw MgmtFault(status, opcode: command.opcode)
      default: keep(packet)
      }
    }
    throw .noAnswer(opcode: command.opcode)
  }

  /// Sends a command without waiting for its response. Returns `false` if the socket did not accept
  /// the command.
  func post(_ command: MgmtCommand, index: UInt16) -> Bool {
    do throws(LinkLoss) {
      return try socket.offer(command.encoded(index: index))
    } catch {
      return false
    }
  }

  /// Returns the next event; `nil` if the deadline passes first.
  func next(until deadline: LinkInstant?) async throws(MgmtFault) -> MgmtPacket? {
    let kept = backlog.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    if let kept { return kept }
    return try await receive(until: deadline)
  }

  private func receive(until deadline: LinkInstant?) async throws(MgmtFault) -> MgmtPacket? {
    let bytes: [UInt8]
    do throws(LinkLoss) {
      bytes = try await socket.receive(until: deadline)
    } catch {
      if case .failed(ETIMEDOUT, _) = error { return nil }
      throw MgmtFault(error)
    }
    do throws(MgmtDecodeFault) {
      return try MgmtPacket(decoding: bytes)
    } catch {
      throw .malformed
    }
  }

  private func keep(_ packet: MgmtPacket) {
    backlog.withLock { backlog in
      if backlog.count == Self.backlogMaximum { backlog.removeFirst() }
      backlog.append(packet)
    }
  }
}
