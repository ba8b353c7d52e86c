import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Testing

/// Tests of several links of one controller, which has one radio.
@Suite struct SharedRadioTests {
  /// Returns the rates of several links from their central to the peripherals, in bytes per second,
  /// and the share of the time in which the shared radio was in use.
  static func rates(
    _ models: [RadioModel], bytes: Int = 495, withResponse: Bool = false,
    shared: Bool = true, idle: Int = 0, for time: Duration = .seconds(10)
  ) throws -> (rates: [Double], airUse: Double) {
    let result = try VirtualTimeline().run {
      clock -> Result<([Double], Double), RadioModelFault> in
      let air = SharedRadio()
      do throws(RadioModelFault) {
        var connections: [SimulatedConnection] = []
        for (seed, model) in (models + Array(repeating: RadioModel(), count: idle)).enumerated() {
          connections.append(
            try SimulatedConnection(
              model: model, clock: clock, random: SeededRandom(seed: UInt64(seed)),
              air: shared ? air : nil))
        }
        let links = connections
        return .success(
          await withTaskGroup { group in
            for link in links { group.addTask { await link.run() } }
            let counts = await withTaskGroup { counting in
              for (index, link) in links.prefix(models.count).enumerated() {
                counting.addTask {
                  (index, await count(link, bytes, withResponse, clock, until: time))
                }
              }
              return await counting.reduce(into: [Int: Int]()) { $0[$1.0] = $1.1 }
            }
            group.cancelAll()
            let rates = models.indices.map { Double(counts[$0] ?? 0) / (time / .seconds(1)) }
            return (rates, air.airTime / time)
          })
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Returns the number of value bytes that arrived until `time`. Expects complete PDUs, in order.
  private static func count(
    _ connection: SimulatedConnection, _ bytes: Int, _ withResponse: Bool, _ clock: VirtualClock,
    until time: Duration
  ) async -> Int {
    let (sender, receiver) = (connection.central, connection.peripheral)
    return await withTaskGroup(of: Int?.self) { group in
      group.addTask {
        var number: UInt8 = 0
        while await send([UInt8](repeating: number, count: bytes), over: sender) {
          number &+= 1
          if withResponse { _ = await receive(sender) }
        }
        return nil
      }
      group.addTask {
        var (total, number) = (0, UInt8(0))
        while clock.now.elapsed < time, let pdu = await receive(receiver) {
          #expect(pdu.count == bytes && pdu.first == number)
          number &+= 1
          total += bytes - 3
          if withResponse { _ = await send([0x13], over: receiver) }
        }
        return total
      }
      var total = 0
      for await part in group {
        guard let part else { continue }
        total = part
        group.cancelAll()
        sender.close()
      }
      return total
    }
  }

  private static func send(_ pdu: [UInt8], over link: SimulatedLink) async -> Bool {
    do throws(LinkLoss) {
      try await link.send(pdu)
      return true
    } catch {
      return false
    }
  }

  private static func receive(_ link: SimulatedLink) async -> [UInt8]? {
    do throws(LinkLoss) { return try await link.receive() } catch { return nil }
  }

  static func model(_ intervalMicroseconds: Int = 15_000, loss: Double = 0) -> RadioModel {
    var model = RadioModel()
    model.interval = ConnectionInterval(microseconds: intervalMicroseconds) ?? .shortest
    model.packetErrorRate = loss
    return model
  }

  @Test func oneLinkOnASharedRadioBehavesLikeAnExclusiveOne() throws {
    for model in [Self.model(), Self.model(7_500, loss: 0.02), Self.model(50_000)] {
      for withResponse in [false, true] {
        let own = try Self.rates([model], withResponse: withResponse, shared: false)
        let shared = try Self.rates([model], withResponse: withResponse)
        #expect(own.rates == shared.rates)
      }
    }
  }

  /// A streaming link uses its complete interval, so several streaming links share the rate of one
  /// link.
  @Test(arguments: [1, 2, 4, 8, 20], [7_500, 15_000, 50_000])
  func streamsShareTheRateOfOneStream(_ count: Int, interval: Int) throws {
    let model = Self.model(interval)
    let one = try Self.rates([model]).rates[0]
    let (rates, airUse) = try Self.rates(Array(repeating: model, count: count))
    let ratio = rates.reduce(0, +) / one
    // Each event ends with an unused part of a packet pair, which takes a third of the time if
    // there are many links.
    #expect(ratio > 0.65 && ratio < 1.01, "\(ratio)")
    #expect(airUse < 0.9)
    Self.expectFair(rates)
  }

  /// A link that waits for responses leaves most of its interval to other links, so the rates of
  /// the links add up. At an interval of 15 ms, the radio limits the sum.
  @Test(arguments: [15_000, 50_000])
  func linksThatWaitForResponsesAddUp(_ interval: Int) throws {
    let model = Self.model(interval)
    let one = try Self.rates([model], withResponse: true).rates[0]
    for count in [2, 4, 8, 20] {
      let links = Array(repeating: model, count: count)
      let (rates, _) = try Self.rates(links, withResponse: true)
      let ratio = rates.reduce(0, +) / one
      let expected = interval == 15_000 && count > 4 ? 5.2 : Double(count) * 0.85
      #expect(ratio > expected && ratio < Double(count) * 1.01, "\(count) links: \(ratio)")
      Self.expectFair(rates)
    }
  }

  /// Expects equal rates, because equal gaps yield equal rates. With 20 links, some gaps are twice
  /// as wide as others.
  private static func expectFair(_ rates: [Double]) {
    let fairness = (rates.min() ?? 0) / (rates.max() ?? 1)
    #expect(fairness > (rates.count == 20 ? 0.49 : 0.99), "\(fairness)")
  }

  /// Anchors of links with different intervals coincide repeatedly.
  @Test(arguments: [false, true])
  func linksOfDifferentIntervalsAlternate(withResponse: Bool) throws {
    let mixed = [7_500, 8_750, 11_250, 15_000, 30_000, 48_750].map { Self.model($0) }
    let (rates, airUse) = try Self.rates(mixed, withResponse: withResponse)
    #expect(rates.allSatisfy { $0 > 3_000 }, "\(rates)")
    #expect(rates.reduce(0, +) < 170_000 && airUse < 0.9)
  }

  @Test func anIdleLinkCostsItsEmptyPacketPairs() throws {
    let alone = try Self.rates([Self.model()]).rates[0]
    let withIdleLinks = try Self.rates([Self.model()], idle: 4).rates[0]
    #expect(withIdleLinks / alone > 0.89 && withIdleLinks < alone)
    let many = try Self.rates([Self.model()], idle: 19).rates[0]
    #expect(many / alone > 0.55)
  }

  /// Events are shortened and skipped, and packets are lost, but all data must arrive completely
  /// and in order.
  @Test func noDataIsLostInEventsThatAreCut() throws {
    let models = Array(repeating: Self.model(7_500, loss: 0.05), count: 12)
    #expect(try Self.rates(models).rates.allSatisfy { $0 > 0 })
    #expect(try Self.rates(models, withResponse: true).rates.allSatisfy { $0 > 0 })
  }

  /// The controller holds four packets at a time for all links together.
  @Test func theControllersBuffersAreShared() throws {
    var model = Self.model(50_000)
    model.controllerBuffers = 4
    let one = try Self.rates([model]).rates[0]
    let four = try Self.rates(Array(repeating: model, count: 4)).rates
    #expect(four.reduce(0, +) / one < 1.02)
    #expect(four.reduce(0, +) / one > 0.95)
  }

  @Test func unpluggingAnAdapterEndsItsLinks() throws {
    let (loss, elapsed, count) = try VirtualTimeline().run { clock in
      let air = SharedRadio()
      return await withTaskGroup { group in
        let link = Self.connection(on: air, clock)
        group.addTask { await link.run() }
        group.addTask {
          await clock.pause(for: .seconds(1))
          air.setPresent(false)
        }
        let loss = await Self.lossOfReceive(link.peripheral)
        await group.waitForAll()
        return (loss, clock.now.elapsed, air.linkCount)
      }
    }
    #expect(loss == .supervisionTimeout)
    #expect(elapsed == .milliseconds(1420))
    #expect(count == 0)
  }

  private static func connection(on air: SharedRadio, _ clock: VirtualClock) -> SimulatedConnection
  {
    do throws(RadioModelFault) {
      return try SimulatedConnection(
        model: model(), clock: clock, random: SeededRandom(seed: 1), air: air)
    } catch {
      preconditionFailure("the model is valid: \(error)")
    }
  }

  private static func lossOfReceive(_ link: SimulatedLink) async -> LinkLoss? {
    do throws(LinkLoss) { _ = try await link.receive() } catch { return error }
    return nil
  }
}
