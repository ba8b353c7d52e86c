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

  // MARK: Roles

  /// Returns the role of a device with Control and Data in the service of the SDK.
  private func role(
    name: String, others: [LocalService], isLoader: Bool, isActivated: Bool
  ) throws -> String {
    let access = LocalService(
      BluetoothUUID(0x1800),
      characteristics: [
        LocalCharacteristic(
          BluetoothUUID(0x2A00), properties: .read, value: .fixed(Array(name.utf8)))
      ])
    let control = LocalCharacteristic(
      SilabsOTA.control, properties: .write, value: .written { _, _ in nil })
    let data = LocalCharacteristic(
      SilabsOTA.data, properties: [.write, .writeWithoutResponse], value: .written { _, _ in nil })
    let server = GATTServer(
      table: AttributeTable(
        services: [access] + others + [
          LocalService(SilabsOTA.service, characteristics: [control, data])
        ]))
    return try VirtualTimeline().run { clock -> String in
      let (host, device) = MemoryLink.pair()
      return await withTaskGroup(of: String?.self) { group in
        group.addTask {
          _ = await server.serve(device, clock: clock)
          return nil
        }
        group.addTask {
          do {
            return try await withPeripheral(Dialer { host }, clock: clock) {
              (peripheral) async throws -> String in
              try await peripheral.perform(
                Command<PeripheralTurn, String, UpdateFault>("look") {
                  (turn) async throws(UpdateFault) in
                  let client = try await turn.connect(requestingMTU: 247)
                  do throws(GATTFault) {
                    switch try await SilabsRole.find(
                      on: client, isLoader: isLoader, isActivated: isActivated)
                    {
                    case .application: return "application"
                    case .loader: return "loader"
                    case .storage: return "storage"
                    }
                  } catch {
                    throw .gatt(.connect, error)
                  }
                })
            }
          } catch {
            return "\(error)"
          }
        }
        var found = ""
        while let part = await group.next() {
          guard let part else { continue }
          found = part
          group.cancelAll()
        }
        return found
      }
    }
  }

  /// Without versions, a loader is recognized by its name, by the course of the update, and by its
  /// few services.
  @Test func aLoaderIsDistinguishedFromAnApplication() throws {
    let battery = LocalService(
      BluetoothUUID(0x180F),
      characteristics: [
        LocalCharacteristic(BluetoothUUID(0x2A19), properties: .read, value: .fixed([50]))
      ])
    func role(_ name: String, _ others: [LocalService], _ isLoader: Bool, _ isActivated: Bool)
      throws -> String
    {
      try self.role(name: name, others: others, isLoader: isLoader, isActivated: isActivated)
    }
    #expect(try role("OTA", [], false, false) == "loader")
    #expect(try role("AppLoader", [battery], false, false) == "loader")
    #expect(try role("Lamp", [battery], false, false) == "storage")
    #expect(try role("Lamp", [], false, false) == "storage", "in doubt, the weaker evidence")
    #expect(
      try role("Lamp", [battery], true, false) == "loader", "it was restarted into the loader")
    #expect(try role("Lamp", [battery], true, true) == "storage", "the new application")
    #expect(try role("Lamp", [], true, true) == "loader")
  }
}
