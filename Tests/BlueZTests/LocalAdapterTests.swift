import OtaflashATT
import OtaflashGATT
import Testing

@testable import OtaflashBlueZ

@Suite(.timeLimit(.minutes(1))) struct LocalAdapterTests {
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
        try await adapter.first(matching: filter, within: .seconds(30), on: EventLoopClock()))
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
      services: [BluetoothUUID(0x180D)])
    #expect(await found == .success(expected))
    #expect(await kernel.receiveToEnd() == [stopDiscoveryPacket])
  }

  @Test func aRefusalOfTheKernelIsToldWithItsRemedy() async throws {
    let kernel = try FakeKernel()
    let adapter = adapter(kernel)
    async let found = first(AdvertisementFilter(), adapter)
    _ = try await kernel.receive()
    // 0x0F, Not Powered.
    try await kernel.complete(0x0023, status: 0x0F, [0x06])
    #expect(
      await found
        == .failure(
          .adapterUnavailable(
            cause: "The adapter is switched off.", remedy: "Run `btmgmt power on`.")))
  }

  @Test func whatIsNoAddressIsNotConnected() async throws {
    let kernel = try FakeKernel()
    let device = Advertisement(id: "sim:strap", name: nil, rssi: nil, services: [])
    await #expect(throws: ConnectFault.self) {
      _ = try await adapter(kernel).connect(to: device, within: .seconds(1))
    }
  }
}
