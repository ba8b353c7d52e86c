import OtaflashATT
import OtaflashGATT
import OtaflashSimulation

/// A client that discovers a server and subscribes always ends: each request receives the next
/// message of the input, and the message after an empty message arrives in addition.
func fuzzGATTClient(_ input: [UInt8]) {
  let script = messages(input)
  let timeline = VirtualTimeline()
  do throws(SimulationFault) {
    try timeline.run(limit: .seconds(3600)) { clock in await explore(script, on: clock) }
  } catch {
    preconditionFailure("the client never ended: \(error)")
  }
}

private func explore(_ script: [[UInt8]], on clock: VirtualClock) async {
  let (near, far) = MemoryLink.pair(capacity: 4)
  await withTaskGroup(of: Void.self) { group in
    group.addTask { await serve(script, on: far) }
    group.addTask {
      await withPeripheral(
        Dialer { () async throws(ConnectFault) -> any Link in near }, clock: clock
      ) {
        await look(at: $0)
      }
      near.close()
    }
    await group.waitForAll()
  }
}

/// Every end but a trap or a hang is correct.
private func look(at peripheral: borrowing Peripheral) async {
  let command = Command<PeripheralTurn, Int, GATTFault>("look") {
    (turn) async throws(GATTFault) -> Int in
    let client: GATTClient
    do throws(ConnectFault) { client = try await turn.connect() } catch { return 0 }
    _ = try await client.requestMTU(247)
    var found = 0
    for service in try await client.services() {
      for characteristic in try await client.characteristics(of: service) {
        found += 1
        if characteristic.properties.contains(.read) { _ = try await client.read(characteristic) }
        if characteristic.properties.contains(.notify) {
          _ = try await client.subscribe(to: characteristic, as: .notifications)
        }
      }
    }
    return found
  }
  do throws(QueueFault<GATTFault>) { _ = try await peripheral.perform(command) } catch { return }
}

private func serve(_ script: [[UInt8]], on link: MemoryLink) async {
  defer { link.close() }
  var rest = script[...]
  do throws(LinkLoss) {
    while !rest.isEmpty {
      _ = try await link.receive()
      while let message = rest.popFirst() {
        guard message.isEmpty else {
          try await link.send(message)
          break
        }
        if let unasked = rest.popFirst() { try await link.send(unasked) }
      }
    }
  } catch {
    return
  }
}
