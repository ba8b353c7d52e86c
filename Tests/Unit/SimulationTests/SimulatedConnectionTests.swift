import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Testing

@Suite struct SimulatedConnectionTests {
  /// Runs `body` with a connection in virtual time and returns its result.
  private func connect<Value: Sendable>(
    _ model: RadioModel = RadioModel(), cutAfterPDUs: Int? = nil, seed: UInt64 = 1,
    _ body: @escaping @Sendable (SimulatedConnection, VirtualClock) async throws -> Value
  ) throws -> Value {
    let result = try VirtualTimeline().run { clock -> Result<Value, any Error> in
      do {
        let connection = try SimulatedConnection(
          model: model, clock: clock, random: SeededRandom(seed: seed), cutAfterPDUs: cutAfterPDUs)
        return try await withThrowingTaskGroup { group in
          group.addTask { await connection.run() }
          defer { group.cancelAll() }
          return .success(try await body(connection, clock))
        }
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Returns the time after the first anchor in which `count` PDUs of `bytes` bytes arrive from the
  /// central.
  private func transferTime(_ model: RadioModel, count: Int, bytes: Int) throws -> Duration {
    try connect(model) { connection, clock in
      let (sender, receiver) = (connection.central, connection.peripheral)
      return try await withThrowingTaskGroup { group in
        group.addTask {
          for number in 0..<count {
            try await sender.send(
              [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: bytes))
          }
        }
        for number in 0..<count {
          let pdu = try await receiver.receive()
          #expect(pdu.count == bytes && pdu.first == UInt8(truncatingIfNeeded: number))
        }
        return clock.now.elapsed - model.interval.duration
      }
    }
  }

  @Test(arguments: [
    (PHY.le1M, 251, 247, 15_000), (.le1M, 27, 23, 7_500), (.le2M, 251, 498, 50_000),
    (.le2M, 251, 517, 11_250), (.codedS2, 251, 247, 100_000), (.codedS8, 251, 247, 30_000),
  ])
  func aStreamReachesTheModelsLimit(phy: PHY, payload: Int, mtu: Int, interval: Int) throws {
    var model = RadioModel()
    model.phy = phy
    model.payloadMaximum = payload
    model.interval = try #require(ConnectionInterval(microseconds: interval))
    let time = try transferTime(model, count: 1000, bytes: mtu)
    let rate = Double(1000 * (mtu - 3)) / (time / .seconds(1))
    #expect(abs(rate / model.eventPackedLimit(mtu: mtu) - 1) < 0.01)
  }

  @Test func aFourPacketControllerSendsFourPacketsPerEvent() throws {
    var model = RadioModel()
    model.interval = .milliseconds50
    model.controllerBuffers = 4
    let time = try transferTime(model, count: 400, bytes: 247)
    #expect(time > .milliseconds(99 * 50) && time < .milliseconds(100 * 50))
  }

  @Test(arguments: [(RadioModel.ResponseEvent.next, 2), (.same, 1)])
  func aRequestTakesItsEvents(response: RadioModel.ResponseEvent, events: Int) throws {
    var model = RadioModel()
    model.responseEvent = response
    let time = try connect(model) { connection, clock in
      let (client, server) = (connection.central, connection.peripheral)
      return try await withThrowingTaskGroup { group in
        group.addTask {
          for _ in 0..<100 {
            _ = try await server.receive()
            try await server.send([0x13])
          }
        }
        for _ in 0..<100 {
          try await client.send([UInt8](repeating: 0x12, count: 247))
          _ = try await client.receive()
        }
        return clock.now.elapsed
      }
    }
    #expect(time > .milliseconds(15 * (events * 100 - 1)))
    #expect(time <= .milliseconds(15 * (events * 100 + 1)))
  }

  @Test func aValueNextToTheResponseDoesNotAdvanceTheNextRequest() throws {
    let time = try connect { connection, clock in
      let (client, server) = (connection.central, connection.peripheral)
      return try await withThrowingTaskGroup { group in
        group.addTask {
          for _ in 0..<100 {
            _ = try await server.receive()
            try await server.send([0x13])
            try await server.send([0x1B, 3, 0])
          }
        }
        for _ in 0..<100 {
          try await client.send([UInt8](repeating: 0x12, count: 247))
          _ = try await client.receive()
          _ = try await client.receive()
        }
        return clock.now.elapsed
      }
    }
    #expect(time > .milliseconds(15 * 199))
  }

  @Test func lossesCostTimeButNoData() throws {
    var model = RadioModel()
    let clean = try transferTime(model, count: 500, bytes: 498)
    model.packetErrorRate = 0.1
    let lossy = try transferTime(model, count: 500, bytes: 498)
    #expect(lossy > clean / 0.9 && lossy < clean / 0.82)
    model.errorsClosingEvent = 1
    let closing = try transferTime(model, count: 500, bytes: 498)
    #expect(closing > clean * 1.3 && closing < clean * 2)
  }

  @Test func aRadioThatLosesEverythingEndsTheLink() throws {
    var model = RadioModel()
    model.packetErrorRate = 1
    let (loss, elapsed) = try connect(model) { connection, clock in
      let link = connection.central
      try await link.send([0x0A])
      return (await lossOfReceive(link), clock.now.elapsed)
    }
    #expect(loss == .supervisionTimeout)
    #expect(elapsed > .milliseconds(420) && elapsed < .milliseconds(500))
  }

  @Test func aCutIsDetectedAfterTheSupervisionTimeout() throws {
    let (received, losses, elapsed) = try connect(cutAfterPDUs: 3) { connection, clock in
      let (sender, receiver) = (connection.central, connection.peripheral)
      for number in 0..<5 { try await sender.send([UInt8(number)]) }
      var received: [[UInt8]] = []
      for _ in 0..<3 { received.append(try await receiver.receive()) }
      let losses = (await lossOfReceive(receiver), await lossOfReceive(sender))
      return (received, [losses.0, losses.1], clock.now.elapsed)
    }
    #expect(received == [[0], [1], [2]])
    #expect(losses == [.supervisionTimeout, .supervisionTimeout])
    #expect(elapsed > .milliseconds(435) && elapsed < .milliseconds(437))
  }

  @Test func dataBeforeTheEndIsStillDelivered() throws {
    let (pdu, loss, again) = try connect { connection, clock in
      let (sender, receiver) = (connection.central, connection.peripheral)
      try await sender.send([1, 2, 3])
      await clock.pause(for: .milliseconds(20))
      sender.close()
      await clock.pause(for: .milliseconds(20))
      return (
        try await receiver.receive(), await lossOfReceive(receiver), await lossOfReceive(receiver)
      )
    }
    #expect(pdu == [1, 2, 3])
    #expect(loss == .closedByPeer && again == .closedByPeer)
  }

  @Test func closingEndsThePendingWaitsOfBothSides() throws {
    let losses = try connect { connection, clock in
      let (central, peripheral) = (connection.central, connection.peripheral)
      return await withTaskGroup { group in
        group.addTask { await lossOfReceive(central) }
        group.addTask { await lossOfReceive(peripheral) }
        await clock.pause(for: .milliseconds(100))
        central.close()
        central.close()
        return await group.reduce(into: []) { $0.append($1) }
      }
    }
    #expect(losses == [.closedLocally, .closedByPeer])
  }

  @Test func aSenderWaitsWhileTheQueueIsFull() throws {
    var model = RadioModel()
    model.hostQueueBytes = 251
    let accepted = try connect(model) { connection, clock in
      let link = connection.central
      let accepted = EventTrace()
      await withTaskGroup { group in
        group.addTask {
          do throws(LinkLoss) {
            for number in 0..<9 {
              try await link.send([UInt8](repeating: 0, count: 247))
              accepted.append("\(number)")
            }
          } catch { accepted.append("\(error)") }
        }
        await clock.pause(for: .milliseconds(10))
        link.close()
      }
      return accepted.all
    }
    #expect(accepted == ["0", "\(LinkLoss.closedLocally)"])
  }

  @Test func aHostThatDoesNotReceiveStopsItsPeer() throws {
    let sent = try connect { connection, clock in
      let link = connection.central
      let sent = EventTrace()
      await withTaskGroup { group in
        group.addTask {
          do throws(LinkLoss) {
            while true {
              try await link.send([UInt8](repeating: 0, count: 247))
              sent.append("")
            }
          } catch {}
        }
        await clock.pause(for: .seconds(60))
        link.close()
      }
      return sent.all.count
    }
    #expect(sent == 64 + RadioModel().hostQueueBytes / 251)
  }

  @Test func cancellationEndsAWaitButNotTheLink() throws {
    let (loss, pdu) = try connect { connection, clock in
      let (central, peripheral) = (connection.central, connection.peripheral)
      let loss = await withTaskGroup(of: LinkLoss?.self) { group in
        group.addTask { await lossOfReceive(central) }
        await clock.pause(for: .milliseconds(5))
        group.cancelAll()
        return await group.next()
      }
      try await peripheral.send([7])
      return (loss, try await central.receive())
    }
    #expect(loss == .some(.cancelled))
    #expect(pdu == [7])
  }

  @Test func aPDUThatDoesNotFitIsRefused() throws {
    let loss = try connect { connection, _ in
      do throws(LinkLoss) {
        try await connection.central.send([UInt8](repeating: 0, count: 673))
        return LinkLoss?.none
      } catch { return error }
    }
    #expect(loss == .tooLarge(bytes: 673, limit: 672))
  }

  @Test func anIdleConnectionCostsNothing() throws {
    let events = try connect { connection, clock in
      await clock.pause(for: .seconds(80_000))
      return connection.pdusDelivered
    }
    #expect(events == 0)
  }
}

/// Receives once. Returns the loss of the link, or `nil` if a PDU arrived.
func lossOfReceive(_ link: any Link) async -> LinkLoss? {
  do throws(LinkLoss) {
    _ = try await link.receive()
    return nil
  } catch {
    return error
  }
}
