import Foundation
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Snippets
import Synchronization
import Testing

/// Tests that run the code of the pages in `Sources/*/Documentation.docc`.
@Suite struct SnippetTests {
  private func nearSensor<Value: Sendable>(
    refusals: Int = 0, _ body: @escaping @Sendable (Peripheral) async throws -> Value
  ) throws -> Value {
    let firmware = SensorFirmware(refusals: refusals)
    return try simulate(near: [{ try firmware.peripheral(on: $0) }]) { central, _ in
      try await withPeripheral(
        matching: AdvertisementFilter(name: /^Sensor/), from: central, body)
    }
  }

  private func nearLamp<Value: Sendable>(
    _ body: @escaping @Sendable (Peripheral) async throws -> Value
  ) throws -> Value {
    let result = try VirtualTimeline().run { clock -> Result<Value, any Error> in
      let (host, device) = MemoryLink.pair()
      return await withTaskGroup(of: Void.self) { group in
        group.addTask { await Lamp().serve(device, on: clock) }
        let dialer = Dialer { () async throws(ConnectFault) -> any Link in host }
        let result: Result<Value, any Error>
        do {
          result = .success(try await withPeripheral(dialer, clock: clock, body))
        } catch {
          result = .failure(error)
        }
        group.cancelAll()
        return result
      }
    }
    return try result.get()
  }

  @Test func devicesAreFoundAndRead() throws {
    let firmware = SensorFirmware()
    let seen = try simulate(near: [{ try firmware.peripheral(on: $0) }]) { central, clock in
      let (battery, level) = (BluetoothUUID(0x180F), BluetoothUUID(0x2A19))
      let first = try await batteryLevel(from: central, on: clock)
      let second = try await readStrongest(level, in: battery, from: central)
      let dialer = Dialer(
        to: AdvertisementFilter(services: [battery]), from: central, within: .seconds(10), on: clock
      )
      let third = try await SensorModel(dialer, clock: clock).value(of: level, in: battery)
      return [first.map { [$0] }, second, third]
    }
    #expect(seen == [[87], [87], [87]])
  }

  @Test func commandsAreDecorated() throws {
    let (model, revision) = try nearSensor { try await modelAndRevision(of: $0) }
    #expect(model == "S7" && revision == "1.2.0")
    for read in [readModelQuickly, readModelPatiently] {
      let model = try nearSensor(refusals: 1) { try await $0.perform(read($0.clock)) }
      #expect(model == "S7")
    }
  }

  @Test func aDecoratedQueueWritesFirstAndDisconnectsAfterwards() throws {
    let (value, state) = try nearLamp { lamp in
      let queue = authorized(lamp, by: [42], writtenTo: Lamp.brightness, in: Lamp.service)
      let value = try await queue.read(Lamp.brightness, in: Lamp.service)
      return (value, lamp.connectionState)
    }
    #expect(value == [42])
    #expect(state == .idle)
  }

  @Test func valuesAreObserved() throws {
    try nearLamp { lamp in
      async let _ = printSteps(of: lamp)
      try await printSlowly(5, valuesOf: Lamp.brightness, in: Lamp.service, of: lamp)
    }
    let values = try nearSensor { try await heartRates(6, of: $0) }
    #expect(values.count == 6)
    let followed = Mutex(0)
    let count: @Sendable ([UInt8]) -> Void = { _ in followed.withLock { $0 += 1 } }
    try nearSensor { sensor in
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          await #expect(throws: PeripheralFault.self) {
            try await followHeartRate(of: sensor, reporting: count)
          }
        }
        await sensor.clock.pause(for: .seconds(60))
        group.cancelAll()
      }
    }
    #expect(followed.withLock { $0 } > 30)
  }

  @Test func writesAreAcceptedAndRefused() throws {
    let messages = try nearLamp { lamp in
      [
        await write([50], to: Lamp.brightness, in: Lamp.service, of: lamp),
        await write([200], to: Lamp.brightness, in: Lamp.service, of: lamp),
      ]
    }
    #expect(
      messages == ["The device accepted the value.", "The device does not permit this value."])
    let read = try nearLamp { lamp in
      await exchange(Data([30]), with: Lamp.brightness, in: Lamp.service, of: lamp)
    }
    #expect(read == Data([30]))
  }

  @Test func imagesAreSent() throws {
    let result = try simulate { board, clock in
      try await flash(newFirmware, over: board.dialer, on: clock)
    }
    #expect(result.isVerified)
    let queued = try simulate { board, clock in
      try await withPeripheral(board.dialer, clock: clock) { device in
        try await flash(newFirmware, on: device)
      }
    }
    #expect(queued.isVerified)
    let file = SampleImage.mcuboot([1, 2, 3, 4], version: FirmwareVersion(1, 3, 0))
    #expect(try images(in: file, named: "app.signed.bin").count == 1)
  }

  @Test func failuresOfUpdatesAreExplained() {
    let lost = UpdateFault.linkLost(
      .supervisionTimeout, .upload, resumable: true, acknowledged: 4096)
    #expect(
      message(for: lost) == "lost during upload; the device keeps 4096 bytes: run it again")
    let other = message(for: UpdateFault.wrongKey)
    #expect(other == "\(UpdateFault.wrongKey.summary): \(UpdateFault.wrongKey.explanation)")
  }
}
