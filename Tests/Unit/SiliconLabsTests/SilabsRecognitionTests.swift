import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of the recognition of the protocol by characteristics.
@Suite struct SilabsRecognitionTests {
  /// Returns the protocols that a simulated device offers.
  private func offered(by profile: String) throws -> [String] {
    try simulate(profile) { board, clock in
      try await withPeripheral(board.dialer, clock: clock) {
        (peripheral) async throws(UpdateFault) -> [String] in
        do {
          return try await peripheral.perform(
            Command<PeripheralTurn, [String], UpdateFault>("look") {
              (turn) async throws(UpdateFault) in
              let client = try await turn.connect(requestingMTU: 247)
              let offered = try await ProtocolChoice(protocols: UpdateProtocol.all)
                .offered(by: client)
              return offered.map { $0.updateProtocol.name }
            })
        } catch {
          throw UpdateFault.noUpdateService
        }
      }
    }
  }

  @Test(arguments: [
    ("silabs", "silabs"), ("silabs?start=loader", "silabs"),
    ("silabs?start=loader&service=other&versions=no", "silabs"), ("silabs-app-ota", "silabs"),
    ("", "otaflash"), ("smp", "smp"), ("nordic-dfu", "nordic-dfu"),
    ("nordic-legacy", "nordic-legacy"), ("infinitime", "nordic-legacy"),
  ])
  func everyDeviceOffersItsProtocol(_ profile: String, _ name: String) throws {
    #expect(try offered(by: "sim:" + profile) == [name])
  }

  // MARK: Tables

  private func characteristic(
    _ uuid: BluetoothUUID, _ properties: CharacteristicProperties
  ) -> DiscoveredCharacteristic {
    DiscoveredCharacteristic(
      uuid: uuid, properties: properties, declaration: AttributeHandle(rawValue: 1),
      value: AttributeHandle(rawValue: 2), last: AttributeHandle(rawValue: 2))
  }

  private static let unrelated: BluetoothUUID = "12345678-0000-4000-8000-000000000001"

  @Test func aControlInAnotherServiceNeedsItsData() {
    let control = characteristic(SilabsOTA.control, .write)
    let data = characteristic(SilabsOTA.data, [.write, .writeWithoutResponse])
    #expect(SilabsAttributes(service: SilabsOTA.service, in: [control])?.data == nil)
    #expect(SilabsAttributes(service: SilabsOTA.service, in: [control]) != nil)
    #expect(SilabsAttributes(service: Self.unrelated, in: [control]) == nil)
    #expect(SilabsAttributes(service: Self.unrelated, in: [control, data])?.data != nil)
    #expect(SilabsAttributes(service: Self.unrelated, in: [data]) == nil)
  }

  @Test func characteristicsWithoutTheirPropertiesDoNotCount() {
    let readable = characteristic(SilabsOTA.control, .read)
    let control = characteristic(SilabsOTA.control, .write)
    let data = characteristic(SilabsOTA.data, .writeWithoutResponse)
    #expect(SilabsAttributes(service: SilabsOTA.service, in: [readable]) == nil)
    #expect(SilabsAttributes(service: Self.unrelated, in: [control, data]) == nil)
  }
}
