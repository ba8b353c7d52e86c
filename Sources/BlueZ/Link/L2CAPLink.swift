import COtaflashBluetooth
import Glibc
import OtaflashATT
import OtaflashGATT

/// The minimum security of a link before attributes are exchanged (kernel `BT_SECURITY`).
public enum SecurityLevel: UInt8, Comparable, Sendable {
  /// No encryption is required.
  case low = 1
  /// The link is encrypted, without protection against a man in the middle.
  case medium = 2
  /// The link is encrypted and authenticated.
  case high = 3
  /// The link is authenticated with LE Secure Connections.
  case fips = 4

  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A link over the kernel's L2CAP channel for attributes (CID 4; Core 5.4, Vol 3, Part A, 2.1).
///
/// Needs no capability, because the kernel scans for the device. The kernel permits one link per
/// device: a second link, in this or another process, fails with `.busy`.
public final class L2CAPLink: Link {
  /// The maximum PDU size in bytes, the kernel's default for both directions; sufficient for any
  /// ATT_MTU up to 517.
  public static let maximumPDUSize = 672

  let socket: SeqpacketSocket
  /// Handles the kernel's requests while the link is secured.
  let pairing: PairingAgent?
  /// Requests and reports the link's parameters.
  let tuner: LinkTuner?

  init(
    _ descriptor: consuming FileDescriptor, pairing: PairingAgent? = nil, tuner: LinkTuner? = nil
  ) throws(SystemError) {
    socket = try SeqpacketSocket(descriptor, maximumSize: Self.maximumPDUSize)
    self.pairing = pairing
    self.tuner = tuner
  }

  deinit { socket.close() }

  public var maximumPDUSize: Int { Self.maximumPDUSize }

  /// Connects to a device.
  /// - Parameters:
  ///   - device: the address of the device with the address type.
  ///   - adapter: the address of the adapter; `nil` uses the first adapter that is on, which may be
  ///   the wrong adapter if the host has several adapters.
  ///   - limit: the time limit. The effective limit is at least 1 s, and at most 60 s, the kernel's
  ///   maximum.
  ///   - security: the minimum security, which the link has when the call returns.
  ///   - pairing: handles the kernel's requests; the agent must be started. With `nil` a link is
  ///   secured only with keys that the kernel already has, or by bluetoothd.
  ///   - tuner: tunes the link before the call returns; the tuner must be started.
  /// - Throws: `.lostWhileConnecting` if the link was lost during setup. Except after
  ///   `.keysRefused`, retry up to about 5 times; each attempt needs a new call, because the kernel
  ///   never reconnects a failed socket. Other faults for other causes.
  public static func connect(
    to device: BluetoothAddress, adapter: BluetoothAddress? = nil, within limit: Duration,
    security: SecurityLevel = .low, pairing: PairingAgent? = nil, tuner: LinkTuner? = nil
  ) async throws(ConnectFault) -> L2CAPLink {
    let name = "\(device)"
    await tuner?.prepare(device)
    do throws(OpenFailure) {
      let link = try L2CAPSocket.open(
        adapter: adapter, security: security, connectLimit: limit, pairing: pairing,
        tuner: tuner)
      try await link.finishConnecting(to: device, within: limit)
      await link.tune(to: device)
      return link
    } catch {
      switch error {
      case .cancelled: throw .cancelled
      case .system(let stage, let number):
        throw ConnectFault(l2capError: number, at: stage, device: name)
      }
    }
  }

  /// The connected device; `nil` after the link is closed.
  public var peer: BluetoothAddress? {
    socket.withDescriptor { raw -> BluetoothAddress? in
      var address = sockaddr_l2()
      var size = socklen_t(MemoryLayout<sockaddr_l2>.size)
      let result = withUnsafeMutableBytes(of: &address) { bytes in
        guard let start = bytes.baseAddress else { preconditionFailure("an address has bytes") }
        return getpeername(raw, start.assumingMemoryBound(to: sockaddr.self), &size)
      }
      guard result == 0, let kind = BluetoothAddress.Kind(rawValue: address.l2_bdaddr_type) else {
        return nil
      }
      return withUnsafeBytes(of: address.l2_bdaddr) {
        BluetoothAddress(littleEndian: Array($0), kind: kind)
      }
    } ?? nil
  }

  private func finishConnecting(
    to device: BluetoothAddress, within limit: Duration
  ) async throws(OpenFailure) {
    let address = L2CAPSocket.address(device)
    let result = socket.withDescriptor { raw in
      withSocketAddress(address) { Glibc.connect(raw, $0, $1) == 0 ? 0 : errno }
    }
    guard let result, result != 0 else { return }
    guard result == EINPROGRESS else { throw .system(.connect, result) }
    // The kernel's own timer (SO_SNDTIMEO) ends the attempt; this deadline applies if the kernel
    // does not end it.
    let deadline = EventLoop.shared.now.advanced(by: limit + .seconds(2))
    do throws(LinkLoss) {
      try await socket.wait(for: .writable, until: deadline)
    } catch {
      socket.close()
      if error == .cancelled { throw .cancelled }
      throw .system(.completion, ECONNREFUSED)
    }
    let number = socket.withDescriptor(SocketOption.pendingError) ?? ECONNABORTED
    guard number == 0 else { throw .system(.completion, number) }
  }

  public func send(_ pdu: [UInt8]) async throws(LinkLoss) { try await socket.send(pdu) }

  public func offer(_ pdu: [UInt8]) throws(LinkLoss) -> Bool { try socket.offer(pdu) }

  public func receive() async throws(LinkLoss) -> [UInt8] { try await socket.receive() }

  public func close() { socket.close() }
}

/// The reason why an L2CAP socket could not be opened, and the step that failed.
enum OpenFailure: Error, Equatable {
  case system(ConnectStage, Int32)
  case cancelled
}

/// The steps that are common to both roles of an L2CAP link, in the only order that the kernel
/// accepts.
enum L2CAPSocket {
  private static let attributeChannel: UInt16 = 4
  /// The size of the send buffer in bytes, which the kernel doubles. With a smaller buffer, a
  /// 512-byte PDU cannot be sent on a controller with 27-byte buffers. The larger default would
  /// hold seconds of transfer.
  private static let sendBufferSize: Int32 = 32768
  /// CID 4 has no flow control, so PDUs that do not fit the receive buffer are lost.
  private static let receiveBufferSize: Int32 = 1_048_576
  private static let connectLimits = Duration.seconds(1)...Duration.seconds(60)

  static func open(
    adapter: BluetoothAddress?, security: SecurityLevel, connectLimit: Duration,
    pairing: PairingAgent?, tuner: LinkTuner?
  ) throws(OpenFailure) -> L2CAPLink {
    let descriptor = try bound(to: adapter, security: security)
    let limit = min(max(connectLimit, connectLimits.lowerBound), connectLimits.upperBound)
    let (seconds, attoseconds) = limit.components
    let timer = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
    try staged(.option) { () throws(SystemError) in
      try SocketOption.set(descriptor.raw, SOL_SOCKET, SO_SNDTIMEO, timer)
    }
    do throws(SystemError) {
      return try L2CAPLink(descriptor, pairing: pairing, tuner: tuner)
    } catch {
      throw .system(.socket, error.number)
    }
  }

  static func bound(
    to adapter: BluetoothAddress?, security: SecurityLevel
  ) throws(OpenFailure) -> FileDescriptor {
    let raw = socket(AF_BLUETOOTH, otaflash_seqpacket_type, BTPROTO_L2CAP)
    guard raw >= 0 else { throw .system(.socket, errno) }
    let descriptor = FileDescriptor(owning: raw)
    // The channel must be specified in bind; otherwise the kernel does not use it as a fixed
    // channel.
    let result = withSocketAddress(address(adapter)) { bind(raw, $0, $1) == 0 ? 0 : errno }
    guard result == 0 else { throw .system(.bind, result) }
    try staged(.option) { () throws(SystemError) in
      try SocketOption.set(raw, SOL_SOCKET, SO_SNDBUF, sendBufferSize)
      try SocketOption.set(raw, SOL_SOCKET, SO_RCVBUF, receiveBufferSize)
      if security > .low {
        try SocketOption.set(
          raw, SOL_BLUETOOTH, BT_SECURITY, bt_security(level: security.rawValue, key_size: 0))
      }
    }
    return descriptor
  }

  /// Returns the socket address of the attribute channel at a device's address, or at the address
  /// of any adapter.
  static func address(_ device: BluetoothAddress?) -> sockaddr_l2 {
    var address = sockaddr_l2()
    address.l2_family = sa_family_t(AF_BLUETOOTH)
    address.l2_cid = attributeChannel.littleEndian
    address.l2_bdaddr_type = (device?.kind ?? .publicDevice).rawValue
    if let device {
      withUnsafeMutableBytes(of: &address.l2_bdaddr) { $0.copyBytes(from: device.littleEndian) }
    }
    return address
  }

  private static func staged(
    _ stage: ConnectStage, _ body: () throws(SystemError) -> Void
  ) throws(OpenFailure) {
    do throws(SystemError) {
      try body()
    } catch {
      throw .system(stage, error.number)
    }
  }
}
