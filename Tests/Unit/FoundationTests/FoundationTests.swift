import Foundation
import OtaflashATT
import OtaflashFirmware
import OtaflashFoundation
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Testing

@Suite struct FoundationTests {
  @Test func anAlertShowsTheMessageOfTheLibrary() {
    let fault: any Error = PeripheralFault.gatt(.timedOut(after: .seconds(1)))
    #expect(fault.localizedDescription == "The device took longer than 1.0 s.")
    let localized = fault as? any LocalizedError
    #expect(localized?.errorDescription == fault.localizedDescription)
    #expect(localized?.failureReason == "The device may be busy, or out of range.")
    #expect(localized?.recoverySuggestion?.isEmpty == false)
    let queued: any Error = QueueFault<UpdateFault>.failed(.wrongKey)
    #expect(queued.localizedDescription == "The device rejected the key.")
    let scan: any Error = ScanFault.notFound(within: .seconds(1))
    #expect(!scan.localizedDescription.contains("could not be completed"))
    do { _ = try FirmwarePackage.decode(name: "x.hex", data: Data(":0".utf8)) } catch {
      #expect(!error.localizedDescription.contains("could not be completed"), "\(error)")
    }
  }

  @Test func valuesAreReadAndWrittenAsData() throws {
    let (service, characteristic) = (BluetoothUUID(0x180F), BluetoothUUID(0x2A19))
    let value = LocalCharacteristic(
      characteristic, properties: [.read, .write, .writeWithoutResponse],
      value: .stored([1, 2], sizeMaximum: 8))
    let table = AttributeTable(services: [LocalService(service, characteristics: [value])])
    let seen = try VirtualTimeline().run { clock -> [Data] in
      let (host, device) = MemoryLink.pair()
      return await withTaskGroup(of: Void.self) { group in
        group.addTask { _ = await GATTServer(table: table).serve(device, clock: clock) }
        let dialer = Dialer { () async throws(ConnectFault) -> any Link in host }
        let seen = await withPeripheral(dialer, clock: clock) { peripheral -> [Data] in
          do throws(PeripheralFault) {
            let first = try await peripheral.readData(characteristic, in: service)
            try await peripheral.write(Data([3, 4]), to: characteristic, in: service)
            let second = try await peripheral.readData(characteristic, in: service)
            try await peripheral.writeWithoutResponse(Data([5]), to: characteristic, in: service)
            return [first, second, try await peripheral.readData(characteristic, in: service)]
          } catch {
            return []
          }
        }
        group.cancelAll()
        return seen
      }
    }
    #expect(seen == [Data([1, 2]), Data([3, 4]), Data([5])])
    #expect(ManufacturerData(company: 1, data: [7]).foundationData == Data([7]))
  }

  @Test func anImageIsDecodedFromData() throws {
    let package = try FirmwarePackage.decode(
      name: "app.bin", data: Data([UInt8](repeating: 7, count: 64)))
    #expect(package.parts[0].bytes.count == 64)
  }
}
