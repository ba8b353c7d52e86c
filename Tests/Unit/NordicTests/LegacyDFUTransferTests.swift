import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

@Suite struct LegacyDFUTransferTests {
  static func transfer(_ total: Int, afterLosses losses: Int = 0) -> LegacyDFUTransfer {
    LegacyDFUTransfer(total: total, packetSize: 20, pace: LegacyDFUPace(afterLosses: losses))
  }

  static func sendAll(_ transfer: inout LegacyDFUTransfer) -> Int {
    var count = 0
    while let packet = transfer.sendable {
      transfer.sent(packet)
      count += 1
    }
    return count
  }

  @Test func theWindowOpensWithEveryReceipt() throws {
    var transfer = Self.transfer(100_000)
    #expect(Self.sendAll(&transfer) == 10)
    #expect(try transfer.received(receipt: 200) == .proceed)
    #expect(Self.sendAll(&transfer) == 20, "twice the packets of a receipt")
    for receipt in 2...40 {
      #expect(try transfer.received(receipt: 200 * receipt) == .proceed)
      _ = Self.sendAll(&transfer)
    }
    #expect(transfer.window == 120)
    #expect(transfer.next - transfer.acknowledged == 120 * 20)
  }

  @Test(arguments: [(1, 10), (2, 4), (3, 1), (9, 1)])
  func everyLossSlowsTheTransferDown(_ losses: Int, _ interval: Int) throws {
    var transfer = Self.transfer(10_000, afterLosses: losses)
    for receipt in 1...20 {
      #expect(Self.sendAll(&transfer) == interval)
      #expect(try transfer.received(receipt: 20 * interval * receipt) == .proceed)
    }
  }

  @Test func theCallersWindowIsNeverLessThanOneReceipt() {
    #expect(LegacyDFUPace(afterLosses: 0, limit: 40).window == 40)
    #expect(LegacyDFUPace(afterLosses: 0, limit: 3).window == 10)
    #expect(LegacyDFUPace(afterLosses: 0).receiptInterval == 10)
    #expect(LegacyDFUPace.ladder.allSatisfy { $0.receiptInterval < 256 })
  }

  @Test(arguments: [180, 190, 220])
  func anUnexpectedReceiptIndicatesALoss(_ bytes: Int) throws {
    var transfer = Self.transfer(10_000)
    _ = Self.sendAll(&transfer)
    if bytes <= 200 {
      #expect(try transfer.received(receipt: bytes) == .lost)
    } else {
      #expect(throws: UpdateFault.self) { try transfer.received(receipt: bytes) }
    }
  }

  @Test func theLastReceiptMayCoverFewerPackets() throws {
    var transfer = Self.transfer(195)
    #expect(Self.sendAll(&transfer) == 10)
    #expect(try transfer.received(receipt: 195) == .proceed)
    #expect(!transfer.isWhole)
    try transfer.answered()
    #expect(transfer.isWhole && transfer.acknowledged == 195)
  }

  @Test func aQueriedDeviceMayBeBusyOrHaveLostPackets() throws {
    var transfer = Self.transfer(10_000)
    _ = Self.sendAll(&transfer)
    #expect(try transfer.reported(40) == .proceed)
    #expect(try transfer.reported(180) == .proceed)
    #expect(try transfer.reported(180) == .lost)
    // The device has all data, although a receipt was lost.
    #expect(try transfer.reported(200) == .proceed)
    #expect(transfer.acknowledged == 200)
    #expect(try transfer.received(receipt: 200) == .proceed, "late, and without new information")
    _ = Self.sendAll(&transfer)
    #expect(try transfer.received(receipt: 400) == .proceed)
  }

  @Test func aDeviceCannotHaveBytesThatWereNotSent() throws {
    var transfer = Self.transfer(10_000)
    _ = Self.sendAll(&transfer)
    #expect(throws: UpdateFault.self) { try transfer.reported(220) }
    #expect(throws: UpdateFault.self) { try transfer.answered() }
  }

  @Test(arguments: 0..<100)
  func noReceiptCausesAWrongTransfer(_ seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    var transfer = Self.transfer(
      Int.random(in: 1...20_000, using: &random))
    do throws(UpdateFault) {
      for _ in 0..<2000 where !transfer.isWhole {
        _ = Self.sendAll(&transfer)
        #expect(transfer.next - transfer.acknowledged <= 120 * 20)
        let bytes = Int.random(in: 0...transfer.next + 5, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: _ = try transfer.reported(bytes)
        case 1: _ = try transfer.received(receipt: bytes)
        case 2 where transfer.next == transfer.total: try transfer.answered()
        default: _ = try transfer.reported(transfer.next)
        }
        #expect(transfer.acknowledged <= transfer.next)
      }
    } catch {
      guard case .protocolViolation = error else {
        Issue.record("\(error)")
        return
      }
    }
  }

  @Test func knownDevicesHaveTheirPacketSizes() {
    let watch = LegacyDFUDevice(
      ApplicationIdentity(manufacturer: "PINE64", firmwareRevision: "1.14.0"))
    #expect(watch == .infiniTime && watch.updatesInApplication)
    #expect(watch.packetSize(mtu: 247, wanted: 244) == 20, "longer packets stop the watch")
    let other = LegacyDFUDevice(ApplicationIdentity(manufacturer: nil, firmwareRevision: nil))
    #expect(other == .bootloader)
    #expect(other.packetSize(mtu: 247, wanted: nil) == 20)
    #expect(other.packetSize(mtu: 247, wanted: 244) == 244)
    #expect(other.packetSize(mtu: 23, wanted: 244) == 20)
    for device in LegacyDFUDevice.known + [.bootloader] { #expect(!device.source.isEmpty) }
  }
}
