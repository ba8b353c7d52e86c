import OtaflashGATT
import Synchronization
import Testing

@testable import OtaflashBlueZ

private let anyIndex: UInt16 = 0xFFFF
/// The commands Read Index List, and Read Controller Information for hci0 and for hci9, byte by
/// byte.
private let listPacket: [UInt8] = [0x03, 0x00, 0xFF, 0xFF, 0x00, 0x00]
private let first: [UInt8] = [0x04, 0x00, 0x00, 0x00, 0x00, 0x00]
private let tenth: [UInt8] = [0x04, 0x00, 0x09, 0x00, 0x00, 0x00]

@Suite(.timeLimit(.minutes(20))) struct AdapterRosterTests {
  private func roster(_ kernel: FakeKernel) -> AdapterRoster {
    let session = kernel.session
    return AdapterRoster(open: { () throws(MgmtFault) in session })
  }

  @Test func adaptersThatAreOnArePresentInAscendingOrder() async throws {
    let kernel = try FakeKernel()
    let roster = roster(kernel)
    async let present = roster.present()
    try await kernel.list([9, 0])
    try await kernel.inform(of: 0, isOn: true)
    try await kernel.inform(of: 9, isOn: true)
    #expect(try await present == [0, 9])
    #expect(await kernel.receiveToEnd() == [])
  }

  @Test func anAdapterThatIsOffIsNotPresent() async throws {
    let kernel = try FakeKernel()
    let roster = roster(kernel)
    async let present = roster.present()
    try await kernel.list([0, 9])
    try await kernel.inform(of: 0, isOn: false)
    try await kernel.inform(of: 9, isOn: true)
    #expect(try await present == [9])
  }

  @Test func anAdapterWithoutLowEnergyIsNotPresent() async throws {
    let kernel = try FakeKernel()
    let roster = roster(kernel)
    async let present = roster.present()
    try await kernel.list([0, 9])
    try await kernel.inform(of: 0, settings: 0x0081)
    try await kernel.inform(of: 9, isOn: true)
    #expect(try await present == [9])
  }

  @Test func anAdapterRemovedDuringTheQueryIsNotPresent() async throws {
    let kernel = try FakeKernel()
    let roster = roster(kernel)
    async let present = roster.present()
    try await kernel.list([0, 9])
    #expect(try await kernel.receive() == first)
    // The status is Invalid Index.
    try await kernel.send(event: 0x0002, index: 0, [0x04, 0x00, 0x11])
    try await kernel.inform(of: 9, isOn: true)
    #expect(try await present == [9])
  }

  @Test func otherRefusalsAreErrors() async throws {
    let kernel = try FakeKernel()
    let roster = roster(kernel)
    async let fault = { () async -> MgmtFault? in
      do throws(MgmtFault) {
        _ = try await roster.present()
        return nil
      } catch {
        return error
      }
    }()
    #expect(try await kernel.receive() == listPacket)
    // The status is Permission Denied.
    try await kernel.send(event: 0x0002, index: anyIndex, [0x03, 0x00, 0x14])
    #expect(await fault == MgmtFault(MgmtStatus(rawValue: 0x14), opcode: 0x03))
  }

  @Test func onlyChangesAreReported() async throws {
    let kernel = try FakeKernel()
    let roster = roster(kernel)
    let reports = Mailbox<[UInt16]>(capacity: 8)
    let watching = Task { () async -> MgmtFault? in
      do throws(MgmtFault) {
        try await roster.watch { _ = reports.offer($0) }
        return nil
      } catch {
        return error
      }
    }
    try await kernel.list([0, 9])
    try await kernel.inform(of: 0, isOn: true)
    // The event arrives while the other adapter is queried, and must not be lost.
    #expect(try await kernel.receive() == tenth)
    try await kernel.send(event: 0x0006, index: 9, [0x00, 0x02, 0, 0])
    try await kernel.answer(for: 9, settings: 0x0201)
    #expect(await reports.next() == [0, 9])
    try await kernel.list([0, 9])
    try await kernel.inform(of: 0, isOn: true)
    try await kernel.inform(of: 9, isOn: false)
    #expect(await reports.next() == [0])

    // The setting is irrelevant: the roster queries the adapters and reports nothing.
    try await kernel.send(event: 0x0006, index: 0, [0x11, 0x02, 0, 0])
    try await kernel.list([0, 9])
    try await kernel.inform(of: 0, isOn: true)
    try await kernel.inform(of: 9, isOn: false)
    // Other events are ignored.
    try await kernel.send(event: 0x0013, index: 0, [0x06, 0x01])

    try await kernel.send(event: 0x0005, index: 0, [])
    try await kernel.list([9])
    try await kernel.inform(of: 9, isOn: false)
    #expect(await reports.next() == [])
    try await kernel.send(event: 0x0004, index: 0, [])
    try await kernel.list([0, 9])
    try await kernel.inform(of: 0, isOn: true)
    try await kernel.inform(of: 9, isOn: false)
    #expect(await reports.next() == [0])

    watching.cancel()
    #expect(await watching.value == .cancelled)
    #expect(await kernel.receiveToEnd() == [])
  }
}

extension FakeKernel {
  /// Receives the query for the list of adapters, and responds.
  fileprivate func list(_ numbers: [UInt16]) async throws {
    #expect(try await receive() == listPacket)
    try await complete(0x0003, UInt16(numbers.count).bytes + numbers.flatMap(\.bytes))
  }

  /// Receives the query for an adapter, and responds.
  fileprivate func inform(of number: UInt16, isOn: Bool) async throws {
    try await inform(of: number, settings: isOn ? 0x0201 : 0x0200)
  }

  fileprivate func inform(of number: UInt16, settings: UInt16) async throws {
    #expect(try await receive() == [0x04, 0x00] + number.bytes + [0x00, 0x00])
    try await answer(for: number, settings: settings)
  }

  fileprivate func answer(for number: UInt16, settings: UInt16) async throws {
    let information: [UInt8] =
      [1, 2, 3, 4, 5, 6, 9, 2, 0, 0xFF, 2, 0, 0] + settings.bytes + [0, 0]
    try await send(event: 0x0001, index: number, [0x04, 0x00, 0x00] + information)
  }
}
