import Glibc
import OtaflashATT
import OtaflashGATT

@testable import OtaflashBlueZ

/// The kernel's end of a management socket, as a script of packets.
final class FakeKernel: Sendable {
  let session: MgmtSession
  private let socket: SeqpacketSocket

  init() throws {
    var raw: [Int32] = [-1, -1]
    precondition(socketpair(AF_UNIX, Int32(5), 0, &raw) == 0)
    for end in raw { precondition(fcntl(end, F_SETFL, O_NONBLOCK) == 0) }
    // The time limit is so long that it does not expire on a slow computer before the response.
    session = try MgmtSession(FileDescriptor(owning: raw[0]), answerLimit: .seconds(3600))
    socket = try SeqpacketSocket(FileDescriptor(owning: raw[1]), maximumSize: 4096)
  }

  func receive() async throws -> [UInt8] { try await socket.receive() }

  func send(event: UInt16, index: UInt16 = 0, _ parameters: [UInt8]) async throws {
    try await socket.send(
      event.bytes + index.bytes + UInt16(parameters.count).bytes + parameters)
  }

  /// Sends Command Complete.
  func complete(_ opcode: UInt16, status: UInt8 = 0, _ parameters: [UInt8] = []) async throws {
    let index: UInt16 = opcode == 0x0003 ? 0xFFFF : 0
    try await send(event: 0x0001, index: index, opcode.bytes + [status] + parameters)
  }

  func found(
    _ address: [UInt8], type: UInt8 = 2, rssi: Int8 = -50, flags: UInt8 = 0,
    _ advertising: [UInt8]
  ) async throws {
    try await send(
      event: 0x0012,
      address + [type, UInt8(bitPattern: rssi), flags, 0, 0, 0] + UInt16(advertising.count).bytes
        + advertising)
  }

  /// Waits until the session is closed, and returns the packets that were received until then.
  func receiveToEnd() async -> [[UInt8]] {
    var packets: [[UInt8]] = []
    do throws(LinkLoss) {
      while true { packets.append(try await socket.receive()) }
    } catch {
      return packets
    }
  }
}

/// Start Discovery and Stop Discovery on hci0 for LE addresses, byte by byte.
let startDiscoveryPacket: [UInt8] = [0x23, 0x00, 0x00, 0x00, 0x01, 0x00, 0x06]
let stopDiscoveryPacket: [UInt8] = [0x24, 0x00, 0x00, 0x00, 0x01, 0x00, 0x06]
