import Glibc
import OtaflashATT
import OtaflashGATT
import Testing

@testable import OtaflashBlueZ

private let door: [UInt8] = [1, 0, 0, 0xEE, 0xFF, 0xC0]
private let lamp: [UInt8] = [2, 0, 0, 0xEE, 0xFF, 0xC0]

private func named(_ name: String) -> [UInt8] {
  [UInt8(name.utf8.count + 1), 0x09] + Array(name.utf8)
}

@Suite(.timeLimit(.minutes(20))) struct DiscoveryTests {
  private func discovery(
    _ kernel: FakeKernel, filter: DiscoveryFilter = DiscoveryFilter(),
    within limit: Duration? = nil,
    reportsDuplicates: Bool = false, shortRun: Duration = .seconds(1)
  ) -> Discovery {
    let session = kernel.session
    return Discovery(
      adapter: 0, filter: filter, within: limit, reportsDuplicates: reportsDuplicates,
      shortRun: shortRun, open: { () throws(MgmtFault) in session })
  }

  private func fault(_ discovery: Discovery) async -> MgmtFault? {
    do throws(MgmtFault) {
      for try await _ in discovery {}
      return nil
    } catch {
      return error
    }
  }

  @Test func devicesAreReportedOnceAndStopIsSentAfterABreak() async throws {
    let kernel = try FakeKernel()
    let discovery = discovery(kernel)
    async let devices = { () async throws in
      var devices: [DiscoveredDevice] = []
      for try await device in discovery {
        devices.append(device)
        if devices.count == 2 { break }
      }
      return devices
    }()
    #expect(try await kernel.receive() == startDiscoveryPacket)
    // An event that precedes the response must not be lost.
    try await kernel.found(door, named("door-01"))
    try await kernel.complete(0x0023, [0x06])
    try await kernel.found(door, named("door-01"))
    try await kernel.found(lamp, named("lamp"))
    #expect(try await devices.map(\.name) == ["door-01", "lamp"])
    #expect(await kernel.receiveToEnd() == [stopDiscoveryPacket])
  }

  @Test func filtersByNameServiceAndStrength() async throws {
    let kernel = try FakeKernel()
    let filter = DiscoveryFilter(
      name: NamePattern("^door-[0-9]+$"), services: ["180D"], rssiMinimum: -70)
    let discovery = discovery(kernel, filter: filter)
    async let first = { () async throws in
      var iterator = discovery.makeAsyncIterator()
      return try await iterator.next()
    }()
    #expect(try await kernel.receive().first == 0x3A)
    try await kernel.complete(0x003A, [0x06])
    let service: [UInt8] = [3, 3, 0x0D, 0x18]
    try await kernel.found(lamp, service + named("lamp"))
    try await kernel.found(door, rssi: -90, service + named("door-01"))
    // The name and the service are those of the earlier advertisement, which was too weak.
    try await kernel.found(door, rssi: -60, [])
    #expect(try await first?.name == "door-01")
    #expect(NamePattern("(") == nil)
  }

  @Test func theTimeLimitEndsTheDiscoveryAndSendsStop() async throws {
    let kernel = try FakeKernel()
    let discovery = discovery(kernel, within: .milliseconds(20))
    async let end = fault(discovery)
    #expect(try await kernel.receive() == startDiscoveryPacket)
    try await kernel.complete(0x0023, [0x06])
    #expect(await end == nil)
    #expect(await kernel.receiveToEnd() == [stopDiscoveryPacket])
  }

  @Test func cancellationSendsStop() async throws {
    let kernel = try FakeKernel()
    let discovery = discovery(kernel)
    let task = Task { await fault(discovery) }
    #expect(try await kernel.receive() == startDiscoveryPacket)
    try await kernel.complete(0x0023, [0x06])
    task.cancel()
    #expect(await task.value == .cancelled)
    #expect(await kernel.receiveToEnd() == [stopDiscoveryPacket])
  }

  @Test func kernelsOwnEndIsFollowedByANewStartWithinABound() async throws {
    let kernel = try FakeKernel()
    // The result does not depend on the speed of the computer, because all five runs are short.
    let discovery = discovery(kernel, shortRun: .seconds(3600))
    async let end = fault(discovery)
    for _ in 0..<5 {
      #expect(try await kernel.receive() == startDiscoveryPacket)
      try await kernel.complete(0x0023, [0x06])
      try await kernel.send(event: 0x0013, [0x06, 0x00])
    }
    guard case .busy? = await end else {
      Issue.record("a discovery that never lasts must end")
      return
    }
    #expect(await kernel.receiveToEnd() == [stopDiscoveryPacket])
  }

  @Test(arguments: [0x14, 0x0A, 0x0F, 0x12, 0x11, 0x03] as [UInt8])
  func refusalsAreTyped(status: UInt8) async throws {
    let kernel = try FakeKernel()
    let discovery = discovery(kernel)
    async let end = fault(discovery)
    _ = try await kernel.receive()
    try await kernel.send(event: 0x0002, [0x23, 0x00, status])
    let fault = await end
    #expect(fault == MgmtFault(MgmtStatus(rawValue: status), opcode: 0x23))
    if case .permissionDenied(_, let remedy)? = fault { #expect(remedy == .grantCapabilities) }
  }

  @Test func anUnpluggedAdapterEndsTheDiscovery() async throws {
    let kernel = try FakeKernel()
    let discovery = discovery(kernel)
    async let end = fault(discovery)
    _ = try await kernel.receive()
    try await kernel.complete(0x0023, [0x06])
    try await kernel.send(event: 0x0005, [])
    #expect(await end == MgmtFault(.invalidIndex, opcode: 0))
  }

  @Test func adapterStatesFollowTheSettings() async throws {
    let kernel = try FakeKernel()
    let session = kernel.session
    let states = AdapterStates(
      adapter: 0, open: { () throws(MgmtFault) in session },
      switches: { [RFKillSwitch(decoding: [0, 0, 0, 0, 2, 0, 1, 0])].compactMap(\.self) })
    async let seen = { () async throws in
      var seen: [AdapterState] = []
      for try await state in states {
        seen.append(state)
        if state == .removed { break }
      }
      return seen
    }()
    #expect(try await kernel.receive() == [0x04, 0, 0, 0, 0, 0])
    try await kernel.complete(
      0x0004, [1, 2, 3, 4, 5, 6, 9, 2, 0, 0xFF, 2, 0, 0, 0x01, 0x02, 0, 0])
    try await kernel.send(event: 0x0006, [0x01, 0x02, 0, 0])
    try await kernel.send(event: 0x0006, [0x00, 0x02, 0, 0])
    try await kernel.send(event: 0x0005, [])
    #expect(try await seen == [.poweredOn, .blocked(hard: false), .removed])
  }
}
