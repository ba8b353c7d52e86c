import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of the recognition of devices: the characteristic counts, not the service.
@Suite struct TelinkRecognitionTests {
  private static let service: BluetoothUUID = "00010203-0405-0607-0809-0a0b0c0d1912"
  private static let data: BluetoothUUID = "00010203-0405-0607-0809-0a0b0c0d2b12"
  private static let other: BluetoothUUID = "00010203-0405-0607-0809-0a0b0c0d2b11"

  private static func protocols(
    of services: [LocalService]
  ) throws -> [UpdateProtocol] {
    let timeline = VirtualTimeline()
    return try timeline.run { clock -> Result<[UpdateProtocol], UpdateFault> in
      let (host, device) = MemoryLink.pair()
      let server = GATTServer(table: AttributeTable(services: services))
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

  private static func ota(_ service: BluetoothUUID, _ data: BluetoothUUID) -> LocalService {
    LocalService(
      service,
      characteristics: [
        LocalCharacteristic(data, properties: [.read, .writeWithoutResponse], value: .fixed([0]))
      ])
  }

  @Test func bothByteOrdersAreRecognized() throws {
    let reversed: (BluetoothUUID, BluetoothUUID) = (
      "12190d0c-0b0a-0908-0706-050403020100", "122b0d0c-0b0a-0908-0706-050403020100"
    )
    #expect(try Self.protocols(of: [Self.ota(Self.service, Self.data)]) == [.telink])
    #expect(try Self.protocols(of: [Self.ota(reversed.0, reversed.1)]) == [.telink])
    #expect(try Self.protocols(of: [Self.ota(Self.service, reversed.1)]) == [.telink])
  }

  /// The service without its characteristic, as on a remote control.
  @Test func aLookalikeIsNotRecognized() throws {
    #expect(try Self.protocols(of: [Self.ota(Self.service, Self.other)]) == [])
    #expect(try Self.protocols(of: [LocalService(Self.service, characteristics: [])]) == [])
    #expect(try Self.protocols(of: [Self.ota("1912", Self.other)]) == [])
  }

  @Test func aLookalikeIsNotUpdated() throws {
    let outcome = try flash(try telink(4000), onto: "sim:nordic-legacy")
    guard case .failure(.imageNotTaken(let offered)) = outcome.result else {
      Issue.record("\(outcome.result)")
      return
    }
    #expect(offered == [.nordicLegacy])
  }
}
