import OtaflashATT
import OtaflashGATT
import Testing

@testable import OtaflashBlueZ

@Suite(.timeLimit(.minutes(20))) struct LocalAdapterTests {
  private static let strapName: [UInt8] = [6, 0x09] + Array("Strap".utf8)
  private static let heartRate: [UInt8] = [3, 0x03, 0x0D, 0x18]

  private func adapter(_ kernel: FakeKernel) -> LocalAdapter {
    let session = kernel.session
    return LocalAdapter(
      0, address: nil, security: .low, open: { () throws(MgmtFault) in session })
  }

  private func first(
    _ filter: AdvertisementFilter, _ adapter: LocalAdapter
  ) async -> Result<Advertisement, ScanFault> {
    do throws(ScanFault) {
      return .success(
        try await adapter.first(matching: filter, within: .seconds(3600), on: EventLoopClock()))
    } catch {
      return .failure(error)
    }
  }

  @Test func theFirstDeviceThatPassesIsReportedAndTheScanStopped() async throws {
    let kernel = try FakeKernel()
    let adapter = adapter(kernel)
    async let found = first(AdvertisementFilter(name: /^Strap$/), adapter)
    #expect(try await kernel.receive() == startDiscoveryPacket)
    try await kernel.complete(0x0023, [0x06])
    try await kernel.found([2, 0, 0, 0xEE, 0xFF, 0xC0], [])
    try await kernel.found(
      [1, 0, 0, 0xEE, 0xFF, 0x40], rssi: -61, Self.strapName + Self.heartRate)
    let expected = Advertisement(
      id: "40:FF:EE:00:00:01/random", name: "Strap", rssi: -61,
      services: [BluetoothUUID(0x180D)], isConnectable: true)
    #expect(await found == .success(expected))
    #expect(await kernel.receiveToEnd() == [stopDiscoveryPacket])
  }

  @Test func aRefusalOfTheKernelIsReportedWithItsRemedy() async throws {
    let kernel = try FakeKernel()
    let adapter = adapter(kernel)
    async let found = first(AdvertisementFilter(), adapter)
    _ = try await kernel.receive()
    // Status 0x0F is Not Powered.
    try await kernel.complete(0x0023, status: 0x0F, [0x06])
    #expect(
      await found
        == .failure(
          .adapterUnavailable(
            cause: "The adapter is switched off.", remedy: .turnAdapterOn(adapter: nil))))
  }

  @Test func anInvalidAddressIsNotConnected() async throws {
    let kernel = try FakeKernel()
    let device = Advertisement(id: "sim:strap", name: nil, rssi: nil, services: [])
    await #expect(throws: ConnectFault.self) {
      _ = try await adapter(kernel).connect(to: device, within: .seconds(1))
    }
  }

  @Test func anAdvertisementIsReportedCompletely() async throws {
    let kernel = try FakeKernel()
    let adapter = adapter(kernel)
    async let found = first(AdvertisementFilter(ids: ["c0:ff:ee:00:00:02"]), adapter)
    #expect(try await kernel.receive() == startDiscoveryPacket)
    try await kernel.complete(0x0023, [0x06])
    try await kernel.found([1, 0, 0, 0xEE, 0xFF, 0xC0], Self.heartRate)
    // The data: 32-bit service 0x12345678, TX power −8, appearance 0x0341, company 0x0059, service
    // data of 0x180F.
    try await kernel.found(
      [2, 0, 0, 0xEE, 0xFF, 0xC0], rssi: 127, flags: 0x04,
      [2, 0x01, 0x06, 5, 0x05, 0x78, 0x56, 0x34, 0x12, 2, 0x0A, 0xF8, 3, 0x19, 0x41, 0x03]
        + [4, 0xFF, 0x59, 0x00, 7, 4, 0x16, 0x0F, 0x18, 99])
    let expected = Advertisement(
      id: "C0:FF:EE:00:00:02", name: nil, rssi: nil, services: [BluetoothUUID(bits32: 0x1234_5678)],
      manufacturerData: [ManufacturerData(company: 0x0059, data: [7])],
      serviceData: [ServiceData(service: BluetoothUUID(0x180F), data: [99])], txPower: -8,
      appearance: 0x0341, isConnectable: false, flags: 0x06)
    #expect(await found == .success(expected))
    #expect(expected.services.map(\.description) == ["12345678-0000-1000-8000-00805f9b34fb"])
  }

  @Test func aBootloaderIsSearchedForAtTheNextAddress() throws {
    let device = Advertisement(id: "C0:FF:EE:00:00:FF", name: nil, rssi: nil, services: [])
    let adapter = LocalAdapter()
    #expect(
      [.home, .homeOrNewAddress, .nextAddress, .previousAddress, .flippedAddress].map {
        adapter.id(of: device, at: $0)
      } == [
        "C0:FF:EE:00:00:FF", "C0:FF:EE:00:00:FF", "C0:FF:EE:00:00:00", "C0:FF:EE:00:00:FE",
        "C0:FF:EE:00:00:FE",
      ])
    #expect(adapter.id(of: device, at: .advertising(name: "loader")) == nil)
  }

  @Test func theAdapterStateIsAwaited() async throws {
    let kernel = try FakeKernel()
    let adapter = adapter(kernel)
    async let on: Void = adapter.waitUntilPoweredOn(within: .seconds(3600), on: EventLoopClock())
    #expect(try await kernel.receive() == [0x04, 0, 0, 0, 0, 0])
    try await kernel.complete(
      0x0004, [1, 2, 3, 4, 5, 6, 9, 2, 0, 0xFF, 2, 0, 0, 0x00, 0x02, 0, 0])
    try await kernel.send(event: 0x0006, [0x01, 0x02, 0, 0])
    try await on
  }

  // MARK: Scan parameters

  private static let readConfiguration: [UInt8] = [0x4B, 0, 0, 0, 0, 0]
  /// A connection uses the adapter that scans, and not the first adapter. If the address of the
  /// scanning adapter is unknown, the address is read.
  @Test func anAdapterConnectsByItsOwnAddress() async throws {
    let kernel = try FakeKernel()
    let session = kernel.session
    let adapter = LocalAdapter(
      1, address: nil, security: .low, open: { () throws(MgmtFault) in session })
    let device = Advertisement(id: "40:FF:EE:00:00:01", name: nil, rssi: nil, services: [])
    async let fault = connectFault(adapter, to: device)
    // The response to Read Controller Information for hci1; 0x11 is Invalid Index.
    #expect(try await kernel.receive() == [0x04, 0, 1, 0, 0, 0])
    try await kernel.send(event: 0x0002, index: 1, [0x04, 0x00, 0x11])
    let outcome = await fault
    guard case .adapterUnavailable? = outcome else {
      Issue.record("\(String(describing: outcome))")
      return
    }
  }

  private func connectFault(
    _ adapter: LocalAdapter, to device: Advertisement
  ) async -> ConnectFault? {
    do throws(ConnectFault) {
      try await adapter.connect(to: device, within: .seconds(10)).close()
      return nil
    } catch {
      return error
    }
  }

  /// The defaults of the kernel: discoveries listen for 11.25 ms in every 22.5 ms. The other
  /// entries concern connections.
  private static let configuration: [UInt8] =
    [0x11, 0, 2, 0x24, 0, 0x12, 0, 2, 0x12, 0, 0x17, 0, 2, 0x18, 0, 0x18, 0, 2, 0x28, 0]
    + [0x19, 0, 2, 0, 0, 0x1A, 0, 2, 0x2A, 0]

  private static func set(interval: UInt8, window: UInt8) -> [UInt8] {
    [0x4C, 0, 0, 0, 10, 0, 0x11, 0, 2, interval, 0, 0x12, 0, 2, window, 0]
  }

  @Test func intervalAndWindowAreSetForTheScanAndRestored() async throws {
    let kernel = try FakeKernel()
    let session = kernel.session
    let adapter = LocalAdapter(
      0, address: nil, security: .low, scanning: .lowLatency,
      open: { () throws(MgmtFault) in session })
    async let found = first(AdvertisementFilter(), adapter)
    #expect(try await kernel.receive() == Self.readConfiguration)
    try await kernel.complete(0x004B, Self.configuration)
    #expect(try await kernel.receive() == Self.set(interval: 160, window: 160))
    try await kernel.complete(0x004C)
    #expect(try await kernel.receive() == startDiscoveryPacket)
    try await kernel.complete(0x0023, [0x06])
    try await kernel.found([2, 0, 0, 0xEE, 0xFF, 0xC0], [])
    _ = await found
    #expect(
      await kernel.receiveToEnd() == [stopDiscoveryPacket, Self.set(interval: 0x24, window: 0x12)])
  }

  @Test func unsupportedScanParametersAreRejectedBeforeTheScan() async throws {
    let kernel = try FakeKernel()
    let session = kernel.session
    let adapter = LocalAdapter(
      0, address: nil, security: .low, scanning: .balanced,
      open: { () throws(MgmtFault) in session })
    async let found = first(AdvertisementFilter(), adapter)
    #expect(try await kernel.receive() == Self.readConfiguration)
    try await kernel.send(event: 0x0002, [0x4B, 0x00, 0x01])
    guard case .failure(.unsupported(_, let remedy)) = await found else {
      Issue.record("\(await found)")
      return
    }
    #expect(!remedy.description.isEmpty)
    #expect(await kernel.receiveToEnd() == [])
  }

  @Test func onlyValuesThatAControllerAcceptsAreScanParameters() {
    let cases: [(Duration, Duration, Bool)] = [
      (.milliseconds(100), .milliseconds(100), true),
      (.milliseconds(100), .milliseconds(101), false),
      (.milliseconds(2), .milliseconds(2), false), (.seconds(11), .seconds(1), false),
    ]
    for (interval, window, isPossible) in cases {
      #expect((ScanParameters(interval: interval, window: window) != nil) == isPossible)
    }
  }
}
