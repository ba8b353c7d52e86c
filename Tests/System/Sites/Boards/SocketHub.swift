import COtaflashBluetooth
import Foundation
import Synchronization

/// A thread that accepts the hosts of all boards and reads their PDUs.
final class SocketHub: Sendable {
  enum Fault: Error {
    case system(call: String, errno: Int32, path: String)
  }

  /// `struct ucred` (unix(7)), which Glibc declares only with _GNU_SOURCE.
  private struct Peer {
    var process: Int32 = 0
    var user: UInt32 = 0
    var group: UInt32 = 0
  }

  private struct State {
    var listeners: [Int32: HostedBoard] = [:]
    var connections: [Int32: (board: HostedBoard, connection: HostConnection)] = [:]
  }

  /// The maximum number of hosts that wait until they are accepted.
  private static let backlog: Int32 = 64
  private static let pduMaximum = 1024

  private let poller: Int32
  private let state = Mutex(State())

  init() throws {
    poller = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard poller >= 0 else { throw Fault.system(call: "epoll_create1", errno: errno, path: "") }
  }

  /// Listens at the path of a board.
  func listen(for board: HostedBoard) throws {
    let descriptor = socket(
      AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else {
      throw Fault.system(call: "socket", errno: errno, path: board.path)
    }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(board.path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw Fault.system(call: "bind", errno: ENAMETOOLONG, path: board.path)
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    unlink(board.path)
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
    }
    guard result == 0, Glibc.listen(descriptor, Self.backlog) == 0 else {
      throw Fault.system(call: "bind", errno: errno, path: board.path)
    }
    state.withLock { $0.listeners[descriptor] = board }
    watch(descriptor)
  }

  /// Stops listening for a board that is gone permanently.
  func stopListening(for board: HostedBoard) {
    let descriptor = state.withLock { state in
      state.listeners.first { $0.value === board }?.key
    }
    guard let descriptor else { return }
    unlink(board.path)
    _ = state.withLock { $0.listeners.removeValue(forKey: descriptor) }
    close(descriptor)
  }

  /// Starts the thread.
  func start() { Thread.detachNewThread { self.run() } }

  private func watch(_ descriptor: Int32) {
    let result = otaflash_epoll_control(
      poller, Int32(EPOLL_CTL_ADD), descriptor, EPOLLIN.rawValue, UInt64(descriptor))
    precondition(result == 0, "a new descriptor can be watched")
  }

  private func run() {
    var events = [epoll_event](repeating: epoll_event(), count: 256)
    while true {
      let count = epoll_wait(poller, &events, Int32(events.count), -1)
      for index in 0..<max(0, Int(count)) {
        handle(Int32(otaflash_epoll_watch(&events[index])))
      }
    }
  }

  private func handle(_ descriptor: Int32) {
    let found = state.withLock { ($0.listeners[descriptor], $0.connections[descriptor]) }
    if let board = found.0 { accept(from: descriptor, for: board) }
    if let (board, connection) = found.1 { read(connection, of: board) }
  }

  private func accept(from listener: Int32, for board: HostedBoard) {
    let descriptor = Glibc.accept(listener, nil, nil)
    guard descriptor >= 0 else { return }
    var peer = Peer()
    var size = socklen_t(MemoryLayout<Peer>.size)
    getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size)
    let connection = board.accepted(descriptor, process: peer.process)
    state.withLock { $0.connections[descriptor] = (board, connection) }
    watch(descriptor)
  }

  private func read(_ connection: HostConnection, of board: HostedBoard) {
    var buffer = [UInt8](repeating: 0, count: Self.pduMaximum)
    let count = recv(
      connection.descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    if count > 0 { return board.arrived(Array(buffer.prefix(count)), on: connection) }
    if count < 0, errno == EAGAIN || errno == EINTR { return }
    // The descriptor must leave the table before the kernel can use its number again.
    _ = state.withLock { $0.connections.removeValue(forKey: connection.descriptor) }
    board.left(connection)
  }
}
