import COtaflashBluetooth
import Glibc
import OtaflashATT
import OtaflashGATT

/// A raw socket to a controller, which the kernel uses at the same time. The socket receives the
/// controller's events, and sends the commands of this process. LE events and commands need
/// CAP_NET_RAW.
struct HCISocket: Sendable {
  /// The maximum size of a packet: an event has at most 255 bytes of parameters.
  private static let packetMaximum = 260

  private let socket: SeqpacketSocket

  /// Opens the socket of `hciN` and sets the filter for link events.
  init(adapter: UInt16) throws(SystemError) {
    let raw = Glibc.socket(AF_BLUETOOTH, otaflash_raw_type, BTPROTO_HCI)
    let descriptor = try FileDescriptor(result: raw)
    var address = sockaddr_hci()
    address.hci_family = sa_family_t(AF_BLUETOOTH)
    address.hci_dev = adapter
    address.hci_channel = UInt16(HCI_CHANNEL_RAW)
    let result = withSocketAddress(address) { bind(raw, $0, $1) == 0 ? 0 : errno }
    guard result == 0 else { throw SystemError(result) }
    try SocketOption.set(raw, SOL_HCI, HCI_FILTER, Self.filter)
    try self.init(descriptor)
  }

  /// Uses a socket that is already open, for example in a test.
  init(_ descriptor: consuming FileDescriptor) throws(SystemError) {
    socket = try SeqpacketSocket(descriptor, maximumSize: Self.packetMaximum)
  }

  func close() { socket.close() }

  func send(_ command: HCICommand, until deadline: LinkInstant) async throws(LinkLoss) {
    try await socket.send(command.encoded, until: deadline)
  }

  /// Returns the next event; a malformed event is returned as `.other`.
  func next() async throws(LinkLoss) -> HCIEvent {
    let bytes = try await socket.receive()
    do throws(MgmtDecodeFault) { return try HCIEvent(decoding: bytes) } catch {
      return .other(code: 0)
    }
  }

  private static var filter: hci_filter {
    var filter = hci_filter()
    filter.type_mask = 1 << UInt32(HCIEvent.packetType)
    for code in HCIEvent.codes {
      let bit: UInt32 = 1 << UInt32(code % 32)
      if code < 32 { filter.event_mask.0 |= bit } else { filter.event_mask.1 |= bit }
    }
    return filter
  }
}
