import COtaflashBluetooth
import Glibc
import OtaflashATT
import OtaflashGATT

/// A link over an AF_UNIX SOCK_SEQPACKET socket: ATT PDUs as on CID 4, with the kernel's message
/// boundaries and back-pressure, for devices that are programs.
public final class UnixLink: Link {
  /// The maximum PDU size in bytes, the kernel's default for L2CAP, so that a device on a socket
  /// has the limits of a real link.
  public static let maximumPDUSize = 672
  /// The requested size of the send buffer in bytes (the kernel doubles it): about 50 PDUs of 495
  /// bytes, so that the speed of the receiver limits the sender.
  private static let sendBufferSize: Int32 = 32768
  /// The pause between attempts while the listener's backlog is full.
  private static let backlogPause = Duration.milliseconds(5)

  private let socket: SeqpacketSocket

  init(_ descriptor: consuming FileDescriptor) throws(SystemError) {
    try SocketOption.set(descriptor.raw, SOL_SOCKET, SO_SNDBUF, Self.sendBufferSize)
    socket = try SeqpacketSocket(descriptor, maximumSize: Self.maximumPDUSize)
  }

  deinit { socket.close() }

  public var maximumPDUSize: Int { Self.maximumPDUSize }

  /// Connects to a listening socket; waits up to `limit` while the backlog of the listener is full.
  public static func connect(
    path: String, within limit: Duration
  ) async throws(ConnectFault) -> UnixLink {
    let address = try UnixAddress(path)
    let clock = EventLoopClock()
    let deadline = clock.now.advanced(by: limit)
    do throws(SystemError) {
      let descriptor = try UnixAddress.socket()
      while case let number = address.connect(descriptor), number != 0 {
        guard number == EAGAIN || number == EINTR else { throw SystemError(number) }
        guard clock.now < deadline else { throw SystemError(ECONNREFUSED) }
        guard await clock.pause(for: backlogPause) else { throw SystemError(ECANCELED) }
      }
      return try UnixLink(descriptor)
    } catch {
      if error.number == ECANCELED { throw .cancelled }
      throw ConnectFault(unixError: error.number, at: .connect, path: path)
    }
  }

  /// Returns two connected links.
  public static func pair() throws(ConnectFault) -> (UnixLink, UnixLink) {
    var raw: [Int32] = [-1, -1]
    do throws(SystemError) {
      guard socketpair(AF_UNIX, otaflash_seqpacket_type, 0, &raw) == 0 else {
        throw SystemError(errno)
      }
      let first = FileDescriptor(owning: raw[0])
      let second = FileDescriptor(owning: raw[1])
      return (try UnixLink(first), try UnixLink(second))
    } catch {
      throw ConnectFault(unixError: error.number, at: .socket, path: "socketpair")
    }
  }

  public func send(_ pdu: [UInt8]) async throws(LinkLoss) { try await socket.send(pdu) }

  public func offer(_ pdu: [UInt8]) throws(LinkLoss) -> Bool { try socket.offer(pdu) }

  public func receive() async throws(LinkLoss) -> [UInt8] { try await socket.receive() }

  /// Returns the next PDU, with a time limit for the wait.
  func receive(until deadline: LinkInstant) async throws(LinkLoss) -> [UInt8] {
    try await socket.receive(until: deadline)
  }

  public func close() { socket.close() }
}

/// The address of a Unix socket. Its initializer throws if the path is empty, has more than
/// `pathMaximum` bytes, or contains a zero byte.
struct UnixAddress {
  /// `sun_path` has 108 bytes, of which the last must be zero.
  static let pathMaximum = 107

  let path: String
  private let address: sockaddr_un

  init(_ path: String) throws(ConnectFault) {
    let bytes = Array(path.utf8)
    guard 1...Self.pathMaximum ~= bytes.count, !bytes.contains(0) else {
      throw .systemCall(
        name: "bind", errno: ENAMETOOLONG,
        cause: "A socket path has 1 to \(Self.pathMaximum) bytes; this path has \(bytes.count).",
        remedy: .advice("Choose a shorter path, such as /tmp/device.sock."))
    }
    self.path = path
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    self.address = address
  }

  static func isSocket(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }

  static func socket() throws(SystemError) -> FileDescriptor {
    try FileDescriptor(result: Glibc.socket(AF_UNIX, otaflash_seqpacket_type, 0))
  }

  /// Connects the socket; returns the error number of the attempt, or 0 on success.
  func connect(_ descriptor: borrowing FileDescriptor) -> Int32 {
    let raw = descriptor.raw
    return withSocketAddress(address) { Glibc.connect(raw, $0, $1) == 0 ? 0 : errno }
  }

  func bind(_ descriptor: borrowing FileDescriptor) -> Int32 {
    let raw = descriptor.raw
    return withSocketAddress(address) { Glibc.bind(raw, $0, $1) == 0 ? 0 : errno }
  }
}
