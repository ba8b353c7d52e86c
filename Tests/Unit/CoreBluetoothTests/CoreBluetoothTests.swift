@preconcurrency import CoreBluetooth
import CoreBluetoothSample
import Dispatch
import Foundation
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Testing

/// Tests of the sample adapter on a mock of Core Bluetooth's declarations, with simulated devices.
@Suite(.timeLimit(.minutes(5))) struct CoreBluetoothTests {
  private static let identifier = UUID(
    uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
  private static let service: BluetoothUUID = "6e400001-b5a3-f393-e0a9-e50e24dcca9e"
  private static let value = BluetoothUUID(0x2A19)
  private static let setting: BluetoothUUID = "6e400002-b5a3-f393-e0a9-e50e24dcca9e"
  private static let long: BluetoothUUID = "6e400003-b5a3-f393-e0a9-e50e24dcca9e"

  /// The values of a device: one is read and notified, one accepts writes of up to 100 bytes, one
  /// has 300 bytes, and the last has the same UUID as the first.
  private static func table() -> AttributeTable {
    AttributeTable(services: [
      LocalService(
        service,
        characteristics: [
          LocalCharacteristic(value, properties: [.read, .notify], value: .fixed([87])),
          LocalCharacteristic(
            setting, properties: [.read, .write, .writeWithoutResponse],
            value: .stored([1], sizeMaximum: 100)),
          LocalCharacteristic(
            long, properties: .read, value: .fixed((0..<300).map { UInt8(truncatingIfNeeded: $0) })
          ),
          LocalCharacteristic(value, properties: .read, value: .fixed([88])),
        ])
    ])
  }

  private static func advertisementData() -> [String: Any] {
    let services: [CBUUID] = [SimulatedSystem.uuid(service)]
    let serviceData: [CBUUID: Data] = [SimulatedSystem.uuid(value): Data([87])]
    var data: [String: Any] = [CBAdvertisementDataLocalNameKey: "Sensor 7"]
    data[CBAdvertisementDataServiceUUIDsKey] = services
    data[CBAdvertisementDataManufacturerDataKey] = Data([0x59, 0x00, 7])
    data[CBAdvertisementDataServiceDataKey] = serviceData
    data[CBAdvertisementDataTxPowerLevelKey] = NSNumber(value: 4)
    data[CBAdvertisementDataIsConnectable] = NSNumber(value: true)
    return data
  }

  /// Runs `body` with the adapter and a device on the modelled radio, in virtual time.
  private func near<Value: Sendable>(
    _ behaviour: @escaping @Sendable (SimulatedPeripheral, VirtualClock) async -> Void = { _, _ in
    },
    _ body:
      @escaping @Sendable (CoreBluetoothCentral, SimulatedSystem, CBCentralManager, VirtualClock)
      async throws -> Value
  ) throws -> Value {
    let advertisement = Advertisement(
      id: "sensor", name: "Sensor 7", rssi: -47, services: [Self.service])
    return try simulate(near: [
      { clock in
        try SimulatedPeripheral(
          advertising: advertisement, server: GATTServer(table: Self.table()), clock: clock
        ) { device in await behaviour(device, clock) }
      }
    ]) { air, clock in
      let device = SimulatedSystem.Device(
        identifier: Self.identifier, advertisementData: Self.advertisementData
      ) { () async throws(ConnectFault) -> any Link in
        try await air.connect(to: advertisement, within: .seconds(3600))
      }
      let system = SimulatedSystem([device], clock: clock, executor: clock.executor)
      let manager = CBCentralManager(system: system)
      let central = CoreBluetoothCentral(manager, clock: clock, executor: clock.executor) { $0() }
      system.setState(.poweredOn, of: manager)
      return try await body(central, system, manager, clock)
    }
  }

  @Test func aScanReportsTheDevicesAdvertisement() throws {
    let (device, log) = try near { central, system, _, _ in
      let filter = AdvertisementFilter(services: [Self.service], rssiMinimum: -60)
      return (try await central.first(matching: filter, within: .seconds(1)), system.log)
    }
    let expected = Advertisement(
      id: Self.identifier.uuidString, name: "Sensor 7", rssi: -47, services: [Self.service],
      manufacturerData: [ManufacturerData(company: 0x59, data: [7])],
      serviceData: [ServiceData(service: Self.value, data: [87])], txPower: 4, isConnectable: true)
    #expect(device == expected)
    #expect(log == ["scan", "stop scan"])
  }

  @Test func valuesAreReadAndWritten() throws {
    let seen = try near { central, _, _, _ in
      let device = try await central.first(within: .seconds(1))
      return try await withPeripheral(device, from: central) { sensor -> [[UInt8]] in
        var seen = [try await sensor.read(Self.value, in: Self.service)]
        seen.append(Array(try await sensor.read(Self.long, in: Self.service).suffix(2)))
        try await sensor.write([22, 5], to: Self.setting, in: Self.service)
        seen.append(try await sensor.read(Self.setting, in: Self.service))
        for number in UInt8(0)..<20 {
          try await sensor.writeWithoutResponse([number], to: Self.setting, in: Self.service)
        }
        seen.append(try await sensor.read(Self.setting, in: Self.service))
        return seen
      }
    }
    #expect(seen == [[87], [42, 43], [22, 5], [19]])
  }

  /// The system drops commands when its buffer is full.
  @Test func aCommandWaitsUntilTheSystemHasSpace() throws {
    let log = try near { central, system, _, _ in
      let device = try await central.first(within: .seconds(1))
      try await withPeripheral(device, from: central) { sensor in
        for number in UInt8(0)..<20 {
          try await sensor.writeWithoutResponse([number], to: Self.setting, in: Self.service)
        }
        _ = try await sensor.read(Self.setting, in: Self.service)
      }
      return system.log
    }
    #expect(log.count { $0 == "command" } == 20 && !log.contains("dropped"), "\(log)")
  }

  @Test func aRefusalKeepsItsCode() throws {
    let fault = try near { central, _, _, _ in
      let device = try await central.first(within: .seconds(1))
      return await withPeripheral(device, from: central) { sensor -> PeripheralFault? in
        do throws(PeripheralFault) {
          let tooLong = [UInt8](repeating: 1, count: 101)
          try await sensor.write(tooLong, to: Self.setting, in: Self.service)
          return nil
        } catch {
          return error
        }
      }
    }
    guard case .gatt(.refused(let attribute, .invalidAttributeValueLength))? = fault else {
      Issue.record("\(String(describing: fault))")
      return
    }
    #expect(attribute.type == Self.setting)
  }

  @Test func theLinkUsesTheSystemsMTU() throws {
    let values = try near { central, _, _, _ in
      let device = try await central.first(within: .seconds(1))
      return try await withPeripheral(device, from: central) { sensor -> [[UInt8]] in
        try await sensor.perform("MTU and handles") { client -> [[UInt8]] in
          var values = [[UInt8(try await client.requestMTU(512))]]
          let service = try await client.services(Self.service)[0]
          for found in try await client.characteristics(of: service) where found.uuid == Self.value
          {
            values.append(try await client.read(found))
          }
          return values
        }
      }
    }
    // Two characteristics with the same UUID are kept apart.
    #expect(values == [[UInt8(SimulatedSystem.mtu)], [87], [88]])
  }

  @Test func notificationsArriveUntilTheReaderLeaves() throws {
    let (values, log) = try near { device, clock in
      let handle = Self.table().handle(ofCharacteristic: 0, inService: 0)
      var count: UInt8 = 0
      while await clock.pause(for: .milliseconds(200)) {
        device.server.notify(handle, [count])
        count &+= 1
      }
    } _: { central, system, _, clock in
      let device = try await central.first(within: .seconds(1))
      let values = try await withPeripheral(device, from: central) { sensor -> [UInt8] in
        var values: [UInt8] = []
        do {
          let stream = try await sensor.subscribe(to: Self.value, in: Self.service)
          for try await element in stream {
            values.append(contentsOf: element.value)
            if values.count == 3 { break }
          }
        }
        await clock.pause(for: .seconds(1))
        return values
      }
      return (values, system.log)
    }
    #expect(values.count == 3 && values == values.sorted() && Set(values).count == 3)
    #expect(log.contains("subscribe") && log.contains("unsubscribe"))
  }

  @Test func aLostDeviceIsConnectedToAgain() throws {
    let lost = Mailbox<SimulatedPeripheral>(capacity: 1)
    let seen = try near { device, _ in
      lost.offer(device)
    } _: { central, system, _, clock in
      let device = try await central.first(within: .seconds(1))
      return try await withPeripheral(device, from: central, within: .seconds(30)) {
        sensor -> [[UInt8]] in
        var seen = [try await sensor.read(Self.value, in: Self.service)]
        await lost.next()?.leaveRange(for: .seconds(8))
        await clock.pause(for: .seconds(7))
        seen.append(try await sensor.read(Self.value, in: Self.service))
        return seen
      }
    }
    #expect(seen == [[87], [87]])
  }

  @Test func bluetoothThatIsOffIsReportedAndAwaited() throws {
    let (fault, states) = try near { central, system, manager, clock in
      system.setState(.poweredOff, of: manager)
      var fault: ScanFault?
      do throws(ScanFault) { _ = try await central.first(within: .seconds(1)) } catch {
        fault = error
      }
      async let later: Void = {
        await clock.pause(for: .seconds(5))
        system.setState(.poweredOn, of: manager)
      }()
      var states: [AdapterState] = []
      for try await state in central.adapterStates() {
        states.append(state)
        if state == .poweredOn { break }
      }
      await later
      return (fault, states)
    }
    guard case .adapterUnavailable? = fault else {
      Issue.record("\(String(describing: fault))")
      return
    }
    #expect(states == [.poweredOff, .poweredOn])
  }

  /// A complete update, including the restart of the device, using only Core Bluetooth's
  /// operations.
  @Test(arguments: ["sim:", "sim:smp"]) func aSimulatedDeviceIsUpdated(_ profile: String) throws {
    let body = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 8) }
    let version = FirmwareVersion(9, 0, 0)
    let plain = FirmwareImage(
      name: "app", format: .binary, bytes: body, version: version, hardware: .any)
    let package = try FirmwarePackage.decode(
      name: "app.bin", bytes: SampleImage.mcuboot(body, version: version))
    let update =
      profile == "sim:" ? FirmwareUpdate(image: plain) : FirmwareUpdate(package: package)
    let (isVerified, drops) = try simulate(profile) { board, clock in
      let device = SimulatedSystem.Device(
        identifier: Self.identifier, advertisementData: Self.advertisementData
      ) { () async throws(ConnectFault) -> any Link in try await board.dial(within: .seconds(60)) }
      let system = SimulatedSystem([device], clock: clock, executor: clock.executor)
      let manager = CBCentralManager(system: system)
      let central = CoreBluetoothCentral(manager, clock: clock, executor: clock.executor) { $0() }
      system.setState(.poweredOn, of: manager)
      let found = try await central.first(within: .seconds(1))
      let dialer = Dialer(to: found, from: central, within: .seconds(30))
      let result = try await update.run(on: dialer, clock: clock)
      return (result.isVerified, system.log.filter { $0 == "dropped" }.count)
    }
    #expect(isVerified)
    #expect(drops == 0)
  }

  /// The time limit of waits on the system's clock: the other tests may use all threads for
  /// minutes.
  private static let patience = Duration.seconds(1800)

  /// A value is read on a queue and with the system's clock, as in an app.
  @Test func theManagersQueueRunsTheCallbacks() async throws {
    let queue = DispatchQueue(label: "core bluetooth")
    let clock = SystemClock()
    let server = GATTServer(table: Self.table())
    let device = SimulatedSystem.Device(
      identifier: Self.identifier, advertisementData: Self.advertisementData
    ) { () async throws(ConnectFault) -> any Link in
      let (host, end) = MemoryLink.pair()
      Task { await server.serve(end, clock: clock) }
      return host
    }
    let system = SimulatedSystem([device], clock: clock, executor: nil) { block in
      queue.async(execute: block)
    }
    let manager = CBCentralManager(system: system)
    let central = CoreBluetoothCentral(manager, clock: clock) { block in
      queue.async(execute: block)
    }
    system.setState(.poweredOn, of: manager)
    let found = try await central.first(within: Self.patience)
    let value = try await withPeripheral(found, from: central, within: Self.patience) { sensor in
      try await sensor.read(Self.value, in: Self.service)
    }
    #expect(value == [87])
  }

  /// A computer without Bluetooth. The mock provides the manager, which is created as in an app.
  @Test func aComputerWithoutBluetoothIsReported() async throws {
    let central = CoreBluetoothCentral()
    await #expect(throws: ScanFault.self) { try await central.first(within: .seconds(60)) }
  }
}
