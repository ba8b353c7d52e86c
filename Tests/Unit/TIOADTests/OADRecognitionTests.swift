import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of the recognition of devices: the three characteristics count, not the service.
@Suite struct OADRecognitionTests {
  private static let service: BluetoothUUID = "f000ffc0-0451-4000-b000-000000000000"

  private static func uuid(_ number: String) -> BluetoothUUID {
    BluetoothUUID("f000\(number)-0451-4000-b000-000000000000") ?? BluetoothUUID(0)
  }

  private static func protocols(
    _ service: BluetoothUUID, _ characteristics: [String]
  ) throws -> [UpdateProtocol] {
    let local = LocalService(
      service,
      characteristics: characteristics.map {
        LocalCharacteristic(
          uuid($0), properties: [.write, .writeWithoutResponse, .notify], value: .fixed([0]))
      })
    let timeline = VirtualTimeline()
    return try timeline.run { clock -> Result<[UpdateProtocol], UpdateFault> in
      let (host, device) = MemoryLink.pair()
      let server = GATTServer(table: AttributeTable(services: [local]))
      return await withTaskGroup(of: Void.self) { group in
        group.addTask { _ = await server.serve(device, clock: clock) }
        defer { group.cancelAll() }
        let command = Command<PeripheralTurn, [UpdateProtocol], UpdateFault>("offered") {
          (turn) async throws(UpdateFault) -> [UpdateProtocol] in
          let client = try await turn.connect(requestingMTU: 247)
          return try await ProtocolChoice(protocols: UpdateProtocol.all).offered(by: client)
            .map { $0.updateProtocol }
        }
        do throws(UpdateFault) {
          return .success(
            try await command.run(
              on: Dialer { () async throws(ConnectFault) -> any Link in host }, clock: clock))
        } catch {
          return .failure(error)
        }
      }
    }.get()
  }

  @Test func theEnhancedServiceIsRecognized() throws {
    #expect(try Self.protocols(Self.service, ["ffc1", "ffc2", "ffc5"]) == [.tiOAD])
  }

  /// Older chips have the same service with Status (FFC4) instead of Control, and another protocol.
  @Test(arguments: [["ffc1", "ffc2"], ["ffc1", "ffc2", "ffc3", "ffc4"], ["ffc2", "ffc5"], []])
  func otherServicesAreNotRecognized(_ characteristics: [String]) throws {
    #expect(try Self.protocols(Self.service, characteristics) == [])
  }

  @Test func theServiceIsRequired() throws {
    #expect(try Self.protocols(Self.uuid("ffe0"), ["ffc1", "ffc2", "ffc5"]) == [])
  }

  @Test func anotherDeviceIsNotUpdated() throws {
    let outcome = try flash(try oad(4000), onto: "sim:nordic-legacy")
    #expect(throws: UpdateFault.imageNotTaken(by: [.nordicLegacy])) { try outcome.result.get() }
  }
}
