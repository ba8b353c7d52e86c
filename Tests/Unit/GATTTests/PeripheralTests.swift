import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

private let handle = CountingDevice.handle

@Suite struct PeripheralTests {
  // MARK: Closures

  @Test func plainClosuresCompileAndThrowAnyError() throws {
    struct NotAThermometer: Error {}
    let device = CountingDevice()
    let seen = try near(device) { clock in
      await withPeripheral(device.dialer, clock: clock) { peripheral in
        let value = await text {
          try await peripheral.perform("read") { client in try await client.read(handle: handle) }
        }
        let own = await text {
          try await peripheral.perform("decode") { client in
            _ = try await client.read(handle: handle)
            throw NotAThermometer()
          }
        }
        let refused = await text {
          try await peripheral.perform("refuse") { _ in throw GATTFault.unsubscribed }
        }
        return [value, own, "\(refused == "\(PeripheralFault.gatt(.unsubscribed))")"]
      }
    }
    #expect(seen == ["[0]", "NotAThermometer()", "true"])
  }

  @Test func anOperationMayHaveALimit() throws {
    let device = CountingDevice(silent: [0])
    let (fault, took) = try near(device) { clock -> (PeripheralFault?, Duration) in
      await withPeripheral(device.dialer, clock: clock) { peripheral in
        do throws(PeripheralFault) {
          _ = try await peripheral.read(
            BluetoothUUID(0x2A19), in: BluetoothUUID(0x180F), within: .seconds(5))
          return (nil, clock.now.elapsed)
        } catch {
          return (error, clock.now.elapsed)
        }
      }
    }
    #expect(fault == .gatt(.timedOut(after: .seconds(5))))
    #expect(took == .seconds(5))
  }

  // MARK: Decorators

  private static func reading(_ client: GATTClient) async throws(GATTFault) -> [UInt8] {
    try await client.read(handle: handle)
  }

  @Test func aRetryOfATimedOutCommandUsesANewConnection() throws {
    let device = CountingDevice(silent: [0])
    let value = try near(device) { clock in
      await withPeripheral(device.dialer, clock: clock) { peripheral in
        let command = Command(onConnection: "read", Self.reading)
          .timeLimit(.seconds(2), orThrow: .gatt(.timedOut(after: .seconds(2))))
          .retrying(.constant(.seconds(1), attempts: 1), on: clock) { _ in true }
        return await text { try await peripheral.perform(command) } + " at \(clock.now.elapsed)"
      }
    }
    #expect(value == "[1] at 3.0 seconds")
  }

  @Test func aRetryAfterARefusalStaysOnItsConnection() throws {
    let device = CountingDevice()
    let attempts = Counter()
    let value = try near(device) { clock in
      await withPeripheral(device.dialer, clock: clock) { peripheral in
        let command = Command(onConnection: "read") { (client) async throws(GATTFault) in
          let value = try await client.read(handle: handle)
          if attempts.take() == 0 {
            throw .refused(AttributeReference(handle), .insufficientResources)
          }
          return value
        }.retrying(.constant(.seconds(1), attempts: 1), on: clock) { _ in true }
        return await text { try await peripheral.perform(command) }
      }
    }
    #expect(value == "[0]")
    #expect(device.connectionCount == 1)
  }

  @Test func aCompleteQueueIsDecoratedInOnePlace() throws {
    let device = CountingDevice(silent: [1])
    let log = Mutex<[String]>([])
    let seen = try near(device) { clock in
      await withPeripheral(device.dialer, clock: clock) { peripheral in
        let authorize = Command<PeripheralTurn, Void, PeripheralFault>(onConnection: "authorize") {
          (client) async throws(GATTFault) in
          log.withLock { $0.append("authorize") }
          try await client.write([1], handle: handle)
        }
        let disconnect = Command<PeripheralTurn, Void, Never>("disconnect") { turn in
          log.withLock { $0.append("disconnect") }
          turn.disconnect()
        }
        let decorated = peripheral.preceded(by: authorize).timeLimit(.seconds(2), on: clock)
          .followed(by: disconnect)
          .retrying(.constant(.seconds(1), attempts: 1), on: clock) { error in
            let isTimeout =
              error as? QueueFault<PeripheralFault> == .timedOut(after: .seconds(2))
            log.withLock { $0.append("retry after \(isTimeout)") }
            return true
          }
        let first = await text {
          try await decorated.perform("read") { client in try await client.read(handle: handle) }
        }
        let second = await text {
          try await decorated.perform("read", Self.reading)
        }
        return [first, second]
      }
    }
    #expect(seen == ["[0]", "[2]"])
    #expect(
      log.withLock { $0 } == [
        "authorize", "disconnect", "authorize", "disconnect", "retry after true", "authorize",
        "disconnect",
      ])
  }

  @Test func aFailedPreparationDiffersFromAFailureOfTheCommand() throws {
    let device = CountingDevice()
    let fault = try near(device) { clock -> QueueFault<PeripheralFault>? in
      await withPeripheral(device.dialer, clock: clock) { peripheral in
        let key = Command<PeripheralTurn, Void, TestFault>("key") {
          (_) async throws(TestFault) in throw .failed(1)
        }
        let decorated = peripheral.preceded(by: key)
        do throws(QueueFault<PeripheralFault>) {
          _ = try await decorated.perform(Command(onConnection: "read", Self.reading))
          return nil
        } catch {
          return error
        }
      }
    }
    #expect(fault == .preparationFailed(TestFault.failed(1)))
    #expect(fault != .preparationFailed(TestFault.failed(2)))
  }

  // MARK: Enqueued

  @Test func commandsAreEnqueuedWithoutWaitingAndKeepTheirOrder() throws {
    let device = CountingDevice()
    let order = Mutex<[Int]>([])
    let seen = try near(device) { clock -> [String] in
      await withPeripheral(device.dialer, clock: clock) { peripheral in
        let enqueued = (1...40).map { number in
          peripheral.enqueue(
            Command<PeripheralTurn, Int, Never>("\(number)") { _ in
              if number == 1 { await clock.pause(for: .seconds(1)) }
              order.withLock { $0.append(number) }
              return number
            })
        }
        enqueued[1].cancel()
        await clock.pause(for: .milliseconds(1))
        let waiting = peripheral.waitingCount
        let last = await text { try await enqueued[39].value }
        let again = await text { try await enqueued[39].value }
        let cancelled = await text { try await enqueued[1].value }
        return ["\(waiting)", last, again, cancelled]
      }
    }
    #expect(seen[0] == "38")
    #expect(seen[1...2] == ["40", "40"])
    #expect(seen[3] == "\(QueueFault<Never>.cancelledInQueue)")
    #expect(order.withLock { $0 } == [1] + (3...40))
  }

  @Test func aCommandCancelledBeforeItsTurnNeverRuns() throws {
    let device = CountingDevice()
    let order = Mutex<[Int]>([])
    let fate = try near(device) { clock -> [String] in
      await withPeripheral(device.dialer, clock: clock) { peripheral in
        let enqueued = (0..<4).map { number in
          peripheral.enqueue(
            Command<PeripheralTurn, Int, Never>("\(number)") { _ in
              order.withLock { $0.append(number) }
              return number
            })
        }
        // No command has started, because the tasks of the commands run only after this task
        // suspends.
        for number in [0, 2] { enqueued[number].cancel() }
        var fate: [String] = []
        for command in enqueued { fate.append(await text { try await command.value }) }
        return fate
      }
    }
    let cancelled = "\(QueueFault<Never>.cancelledInQueue)"
    #expect(fate == [cancelled, "1", cancelled, "3"])
    #expect(order.withLock { $0 } == [1, 3])
  }

  @Test func excessCommandsAreRejectedImmediately() throws {
    let device = CountingDevice()
    let seen = try near(device) { clock -> [String] in
      var limits = PeripheralLimits()
      limits.commandsWaiting = 2
      return await withPeripheral(device.dialer, clock: clock, limits: limits) { peripheral in
        let enqueued = (1...5).map { number in
          peripheral.enqueue(
            Command<PeripheralTurn, Int, Never>("\(number)") { _ in
              await clock.pause(for: .seconds(1))
              return number
            })
        }
        var results: [String] = []
        for command in enqueued { results.append(await text { try await command.value }) }
        return results
      }
    }
    let full = "\(QueueFault<Never>.full(limit: 2))"
    #expect(seen == ["1", "2", "3", full, full])
  }

  @Test func commandsStillEnqueuedAtTheEndAreRejected() throws {
    let device = CountingDevice()
    let fate = try near(device) { clock -> [String] in
      let enqueued = await withPeripheral(device.dialer, clock: clock) { peripheral in
        (1...2).map { number in
          peripheral.enqueue(
            Command<PeripheralTurn, String, Never>("\(number)") { _ in
              await clock.pause(for: .seconds(1_000)) ? "ran" : "cancelled"
            })
        }
      }
      #expect(clock.now.elapsed == .zero)
      return [
        await text { try await enqueued[0].value }, await text { try await enqueued[1].value },
      ]
    }
    #expect(fate.last == "\(QueueFault<Never>.closed)")
    #expect(fate.first != "ran")
  }

  // MARK: Held

  @Test func aPeripheralCanBeHeldConnectedAndDisconnected() throws {
    let device = CountingDevice()
    let seen = try near(device) { clock -> [String] in
      let model = Peripheral(device.dialer, clock: clock)
      var seen = [model.connectionState.rawValue]
      seen.append(await text { try await model.connect() })
      seen.append(model.connectionState.rawValue)
      seen.append(
        await text {
          try await model.perform("read") { try await $0.read(handle: handle) }
        })
      seen.append(await text { try await model.disconnect() })
      seen.append(model.connectionState.rawValue)
      seen.append(
        await text { try await model.perform("read") { try await $0.read(handle: handle) } })
      await model.close()
      seen.append(await text { try await model.connect() })
      return seen
    }
    #expect(seen.dropLast() == ["idle", "()", "connected", "[0]", "()", "idle", "[1]"])
    #expect(seen.last == "\(PeripheralFault.queue(.closed))")
  }

  @Test func releasingTheLastReferenceEndsTheConnection() throws {
    let (near, far) = MemoryLink.pair(capacity: 4)
    let seen = try VirtualTimeline().run { clock -> [String] in
      let level = DiscoveredCharacteristic(
        uuid: BluetoothUUID(0x2A19), properties: [.notify], declaration: AttributeHandle(2),
        value: AttributeHandle(3), last: AttributeHandle(4))
      async let complaint = ScriptedPeer([
        .on("04 04 00 04 00", "05 01 04 00 02 29"), .on("12 04 00 01 00", "13"),
      ]).play(on: far)
      let dialer = Dialer { () async throws(ConnectFault) -> any Link in near }
      var model: Peripheral? = Peripheral(dialer, clock: clock)
      let steps = model?.transitions()
      weak let held = model
      do {
        let stream = try await model?.perform("subscribe") { try await $0.subscribe(to: level) }
        model = nil
        let isGone = held == nil
        let end = await text { try await stream?.next() }
        var states: [String] = []
        if let steps { for await step in steps { states.append(step.to.rawValue) } }
        let loss = await text { try await far.receive() }
        return ["\(isGone)", end, states.last ?? "", loss, await complaint ?? "as scripted"]
      } catch {
        return ["\(error)"]
      }
    }
    #expect(
      seen == [
        "true", "\(GATTFault.linkLost(.closedLocally))", "idle", "\(LinkLoss.closedByPeer)",
        "as scripted",
      ])
  }
}
