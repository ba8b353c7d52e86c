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
  let remedy: String

  init(_ stage: ConnectStage, _ number: Int32, _ sort: Sort, _ remedy: String) {
    self.stage = stage
    self.number = number
    self.sort = sort
    self.remedy = remedy
  }

  var testDescription: String { "\(stage) \(number)" }
}

@Suite struct SocketFaultTests {
  private static let rows = [
    Row(.socket, EAFNOSUPPORT, .adapterUnavailable, "--net=host"),
    Row(.socket, EPROTONOSUPPORT, .adapterUnavailable, "modprobe bluetooth"),
    Row(.socket, EPERM, .permissionDenied, "setcap cap_net_raw,cap_net_admin+ep"),
    Row(.socket, EACCES, .permissionDenied, "setcap cap_net_raw,cap_net_admin+ep"),
    Row(.socket, EMFILE, .systemCall, "otaflash doctor"),
    Row(.bind, EADDRINUSE, .busy, "systemctl stop bluetooth"),
    Row(.connect, EHOSTUNREACH, .adapterUnavailable, "rfkill unblock bluetooth"),
    Row(.connect, EBUSY, .busy, "bluetoothctl disconnect C0:FF:EE:00:00:01"),
    Row(.connect, ECONNREFUSED, .adapterUnavailable, "btmgmt le on"),
    Row(.connect, EINVAL, .systemCall, "uname -r"),
    Row(.completion, ECONNREFUSED, .deviceNotFound, "otaflash scan"),
    Row(.completion, EBUSY, .busy, "bluetoothctl disconnect"),
    Row(.completion, ETIMEDOUT, .lostWhileConnecting, ""),
    Row(.completion, ENOSYS, .lostWhileConnecting, ""),
    Row(.completion, ECONNRESET, .lostWhileConnecting, ""),
    Row(.completion, ECONNABORTED, .lostWhileConnecting, ""),
    Row(.completion, EACCES, .permissionDenied, "bluetoothctl remove C0:FF:EE:00:00:01"),
    Row(.completion, EBADE, .permissionDenied, "bluetoothctl remove C0:FF:EE:00:00:01"),
    Row(.completion, EMLINK, .busy, "bluetoothctl devices Connected"),
    Row(.completion, EPROTO, .lostWhileConnecting, ""),
    Row(.completion, EOPNOTSUPP, .adapterUnavailable, "btmgmt le on"),
    Row(.completion, EALREADY, .busy, "bluetoothctl disconnect"),
    Row(.completion, ENOMEM, .systemCall, "otaflash doctor"),
  ]

  @Test(arguments: rows) private func errorNumberNamesItsCause(row: Row) {
    let fault = ConnectFault(
      l2capError: row.number, at: row.stage, device: "C0:FF:EE:00:00:01")
    #expect(Sort(fault) == row.sort)
    #expect(fault.isWorthRetrying == (row.sort == .lostWhileConnecting))
    #expect(row.remedy.isEmpty || fault.explanation.remedy.contains(row.remedy))
    #expect(fault.explanation.cause.hasSuffix("."))
  }

  @Test func lossesOfAStandingLink() {
    #expect(LinkLoss(socketError: ECONNRESET) == .closedByPeer)
    #expect(LinkLoss(socketError: EPIPE) == .closedByPeer)
    #expect(LinkLoss(socketError: ETIMEDOUT) == .supervisionTimeout)
    for number in [ECONNABORTED, ENOTCONN, EACCES, EBADE, ENOSYS, EIO] {
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
    #expect(checks.first?.remedy?.contains("modprobe") == true)
  }

  @Test func attributeChannelAddressHasTheKernelsBytes() throws {
    let device = try #require(BluetoothAddress("C0:FF:EE:00:00:01"))
    let octets = withSocketAddress(L2CAPSocket.address(device)) { address, size in
      Array(UnsafeRawBufferPointer(start: address, count: Int(size)))
    }
    // family, psm, address, cid, address type (linux-ble: struct sockaddr_l2 has 14 octets).
    #expect(octets == [31, 0, 0, 0, 0x01, 0, 0, 0xEE, 0xFF, 0xC0, 4, 0, 2, 0])
  }

  @Test func physAreReadFromTheOptionsMask() {
    #expect(PHY.decode(0) == (.le1M, .le1M))
    #expect(PHY.decode(1 << 11 | 1 << 12) == (.le2M, .le2M))
    #expect(PHY.decode(1 << 9 | 1 << 12) == (.le1M, .le2M))
    #expect(PHY.decode(1 << 13 | 1 << 14) == (.coded, .coded))
  }
}
