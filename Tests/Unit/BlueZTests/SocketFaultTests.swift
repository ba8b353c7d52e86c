import COtaflashBluetooth
import Glibc
import OtaflashATT
import OtaflashGATT
import Testing

@testable import OtaflashBlueZ

/// The class of a fault, without its text.
private enum Sort: String {
  case adapterUnavailable, deviceNotFound, busy, permissionDenied, systemCall, lostWhileConnecting
  case cancelled

  init(_ fault: ConnectFault) {
    switch fault {
    case .adapterUnavailable: self = .adapterUnavailable
    case .deviceNotFound: self = .deviceNotFound
    case .busy: self = .busy
    case .permissionDenied: self = .permissionDenied
    case .systemCall: self = .systemCall
    case .lostWhileConnecting: self = .lostWhileConnecting
    case .cancelled: self = .cancelled
    }
  }
}

private struct Row: Sendable, CustomTestStringConvertible {
  let stage: ConnectStage
  let number: Int32
  let sort: Sort
  let remedy: Remedy?

  init(_ stage: ConnectStage, _ number: Int32, _ sort: Sort, _ remedy: Remedy?) {
    self.stage = stage
    self.number = number
    self.sort = sort
    self.remedy = remedy
  }

  var testDescription: String { "\(stage) \(number)" }
}

@Suite struct SocketFaultTests {
  private static let device = "C0:FF:EE:00:00:01"
  private static let rows = [
    Row(.socket, EAFNOSUPPORT, .adapterUnavailable, .installBluetooth),
    Row(.socket, EPROTONOSUPPORT, .adapterUnavailable, .installBluetooth),
    Row(.socket, EPERM, .permissionDenied, .grantCapabilities),
    Row(.socket, EACCES, .permissionDenied, .grantCapabilities),
    Row(.socket, EMFILE, .systemCall, .examineSystem),
    Row(.bind, EADDRINUSE, .busy, .stopOtherServer),
    Row(.connect, EHOSTUNREACH, .adapterUnavailable, .turnAdapterOn(adapter: nil)),
    Row(.connect, EBUSY, .busy, .disconnectElsewhere(device: device)),
    Row(.connect, ECONNREFUSED, .adapterUnavailable, .turnLowEnergyOn(adapter: nil)),
    Row(.connect, EINVAL, .systemCall, .report),
    Row(.completion, ECONNREFUSED, .deviceNotFound, .checkAddress),
    Row(.completion, EBUSY, .busy, .disconnectElsewhere(device: device)),
    Row(.completion, ETIMEDOUT, .lostWhileConnecting, .tryAgain),
    Row(.completion, ENOSYS, .lostWhileConnecting, .tryAgain),
    Row(.completion, ECONNRESET, .lostWhileConnecting, .tryAgain),
    Row(.completion, ECONNABORTED, .lostWhileConnecting, .tryAgain),
    Row(.completion, EACCES, .lostWhileConnecting, .pairAgain(device: nil)),
    Row(.completion, EBADE, .lostWhileConnecting, .pairAgain(device: nil)),
    Row(.completion, EMLINK, .busy, .endAConnection),
    Row(.completion, EPROTO, .lostWhileConnecting, .tryAgain),
    Row(.completion, EOPNOTSUPP, .adapterUnavailable, .turnLowEnergyOn(adapter: nil)),
    Row(.completion, EALREADY, .busy, .disconnectElsewhere(device: device)),
    Row(.completion, ENOMEM, .systemCall, .examineSystem),
  ]

  @Test(arguments: rows) private func errorNumberHasItsCause(row: Row) {
    let fault = ConnectFault(
      l2capError: row.number, at: row.stage, device: Self.device)
    #expect(Sort(fault) == row.sort)
    #expect(fault.remedy == row.remedy)
    #expect(fault.explanation.hasSuffix("."))
  }

  @Test func lossesOfAnExistingLink() {
    #expect(LinkLoss(socketError: ECONNRESET) == .closedByPeer)
    #expect(LinkLoss(socketError: EPIPE) == .closedByPeer)
    #expect(LinkLoss(socketError: ETIMEDOUT) == .supervisionTimeout)
    #expect([EACCES, EBADE].map(LinkLoss.init(socketError:)) == [.keysRefused, .keysRefused])
    for number in [ECONNABORTED, ENOTCONN, ENOSYS, EIO] {
      guard case .failed(number, let reason) = LinkLoss(socketError: number) else {
        Issue.record("\(number)")
        continue
      }
      #expect(reason.hasSuffix("."))
    }
  }

  private static let hasBluetooth: Bool = {
    let raw = socket(AF_BLUETOOTH, otaflash_seqpacket_type, BTPROTO_L2CAP)
    if raw >= 0 { close(raw) }
    return raw >= 0
  }()

  @Test(.disabled(if: hasBluetooth, "this kernel has Bluetooth"))
  func kernelWithoutBluetoothIsATypedFault() async throws {
    let device = try #require(BluetoothAddress("C0:FF:EE:00:00:01"))
    let expected = ConnectFault(l2capError: EAFNOSUPPORT, at: .socket, device: "")
    await #expect(throws: expected) {
      try await L2CAPLink.connect(to: device, within: .seconds(1))
    }
    #expect(throws: expected) { try L2CAPListener() }
    #expect(throws: MgmtFault(openError: EAFNOSUPPORT, call: "socket")) { try MgmtSession() }
    let checks = await Doctor().examine()
    #expect(checks.first?.check == "kernel support")
    #expect(checks.first?.verdict == .fail)
    #expect(checks.first?.remedy == .installBluetooth)
  }

  @Test func attributeChannelAddressHasTheKernelsBytes() throws {
    let device = try #require(BluetoothAddress("C0:FF:EE:00:00:01"))
    let bytes = withSocketAddress(L2CAPSocket.address(device)) { address, size in
      Array(UnsafeRawBufferPointer(start: address, count: Int(size)))
    }
    // The fields are family, psm, address, cid and address type; struct sockaddr_l2 of the kernel
    // has 14 bytes.
    #expect(bytes == [31, 0, 0, 0, 0x01, 0, 0, 0xEE, 0xFF, 0xC0, 4, 0, 2, 0])
  }

  @Test func physAreReadFromTheOptionsMask() {
    #expect(PHY.decode(0) == (.le1M, .le1M))
    #expect(PHY.decode(1 << 11 | 1 << 12) == (.le2M, .le2M))
    #expect(PHY.decode(1 << 9 | 1 << 12) == (.le1M, .le2M))
    #expect(PHY.decode(1 << 13 | 1 << 14) == (.coded, .coded))
  }
}
