import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Testing

/// A scanner that reports its devices, one per second, and then throws `ending`. Without `ending`,
/// it reports nothing for an hour, and the scan ends.
private struct ScriptedScanner: Central {
  let devices: [Advertisement]
  let clock: any LinkClock
  var ending: ScanFault?
  let link: MemoryLink

  init(
    _ devices: [Advertisement], ending: ScanFault? = nil, clock: VirtualClock,
    link: MemoryLink = MemoryLink.pair(capacity: 1).0
  ) {
    self.devices = devices
    self.ending = ending
    self.clock = clock
    self.link = link
  }

  struct Reports: AsyncSequence, AsyncIteratorProtocol, Sendable {
    var devices: [Advertisement]
    let ending: ScanFault?
    let clock: any LinkClock

    func makeAsyncIterator() -> Reports { self }

    mutating func next() async throws(ScanFault) -> Advertisement? {
      try await next(isolation: nil)
    }

    mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ScanFault) -> Advertisement? {
      let isQuiet = devices.isEmpty
      guard await clock.pause(for: .seconds(isQuiet && ending == nil ? 3_600 : 1)) else {
        throw .cancelled
      }
      if isQuiet, let ending { throw ending }
      return isQuiet ? nil : devices.removeFirst()
    }
  }

  func advertisements(matching filter: AdvertisementFilter, eachOnce: Bool) -> Reports {
    Reports(devices: devices.filter(filter.accepts), ending: ending, clock: clock)
  }

  func connect(
    to device: Advertisement, within limit: Duration
  ) async throws(ConnectFault) -> any Link { link }
}

private func device(
  _ name: String?, rssi: Int? = -60, _ services: BluetoothUUID...
) -> Advertisement {
  Advertisement(id: "C0:FF:EE:00:00:01", name: name, rssi: rssi, services: services)
}

@Suite struct ScannerTests {
  private static let heartRate = BluetoothUUID(0x180D)

  @Test func aFilterAcceptsDevicesThatMeetEveryCondition() {
    let filter = AdvertisementFilter(name: /^Strap/, services: [Self.heartRate], rssiMinimum: -80)
    #expect(filter.accepts(device("Strap 12", rssi: -80, Self.heartRate)))
    #expect(filter.accepts(device("Strap 12", Self.heartRate, BluetoothUUID(0x180F))))
    #expect(!filter.accepts(device("Strap 12", rssi: nil, Self.heartRate)), "same as in the kernel")
    #expect(!filter.accepts(device("My Strap", Self.heartRate)))
    #expect(!filter.accepts(device(nil, Self.heartRate)))
    #expect(!filter.accepts(device("Strap 12", rssi: -81, Self.heartRate)))
    #expect(!filter.accepts(device("Strap 12", BluetoothUUID(0x180F))))
    #expect(AdvertisementFilter().accepts(device(nil, rssi: nil)))
  }

  @Test func aFilterSupportsAnyPatternForTheNameAndIds() throws {
    let text = "^str[a-z]+$"
    let stored = try Regex(text)
    let patterns = [
      AdvertisementFilter(name: try Regex(text)), AdvertisementFilter(name: stored),
      AdvertisementFilter(name: /^(str)([a-z]+)$/),
      AdvertisementFilter(name: try #require(NamePattern(text))),
    ]
    for filter in patterns {
      #expect(filter.accepts(device("strap")) && !filter.accepts(device("Strap 12")))
    }
    let one = AdvertisementFilter(ids: ["c0:ff:ee:00:00:01"])
    #expect(one.accepts(device(nil)))
    #expect(!AdvertisementFilter(ids: ["C0:FF:EE:00:00:02"]).accepts(device(nil)))
  }

  @Test func aFilterSupportsAClosureForTheName() {
    let filter = AdvertisementFilter { $0.count == 3 }
    #expect(filter.accepts(device("abc")))
    #expect(!filter.accepts(device("abcd")))
  }

  @Test func theFirstDeviceThatPassesIsFound() throws {
    let (found, at) = try VirtualTimeline().run { clock in
      let scanner = ScriptedScanner(
        [device("a"), device("b"), device("b", rssi: -1)], clock: clock)
      return (await Self.first(AdvertisementFilter(name: /b/), scanner, clock), clock.now)
    }
    #expect(found == .success(device("b")))
    #expect(at.elapsed == .seconds(1))
  }

  @Test func theTimeLimitEndsTheScan() throws {
    let (found, at) = try VirtualTimeline().run { clock in
      let scanner = ScriptedScanner([device("a")], clock: clock)
      return (await Self.first(AdvertisementFilter(name: /b/), scanner, clock), clock.now)
    }
    #expect(found == .failure(.notFound(within: .seconds(10))))
    #expect(at.elapsed == .seconds(10))
  }

  // MARK: A new address

  /// The outcome and the duration of a search for the device "one", or for another device whose
  /// name contains "Strap".
  private static func search(
    _ reports: [(id: String, name: String?)]
  ) throws -> (found: Result<String, ConnectFault>, took: Duration) {
    let (found, at) = try VirtualTimeline().run {
      clock -> (Result<String, ConnectFault>, LinkInstant) in
      let scanner = ScriptedScanner(
        reports.map { Advertisement(id: $0.id, name: $0.name, rssi: -60, services: []) },
        clock: clock)
      do throws(ConnectFault) {
        let device = try await scanner.relocated(
          "one", orMatching: AdvertisementFilter(name: /Strap/), on: clock)
        return (.success(device.id), clock.now)
      } catch {
        return (.failure(error), clock.now)
      }
    }
    return (found, at.elapsed)
  }

  @Test func theKnownAddressEndsTheSearchImmediately() throws {
    let search = try Self.search([("two", "Strap"), ("ONE", nil), ("three", "Strap")])
    #expect(search.found == .success("ONE"))
    #expect(search.took == .seconds(2))
  }

  @Test func theOnlyOtherMatchIsTheDeviceWithANewAddress() throws {
    let search = try Self.search([("lamp", "Lamp"), ("two", nil), ("two", "Strap")])
    #expect(search.found == .success("two"))
    #expect(search.took == .seconds(4), "another device may match until then")
  }

  @Test func severalMatchesAreRejected() throws {
    let search = try Self.search([("two", "Strap"), ("three", "Strap")])
    guard case .failure(.lostWhileConnecting(.failed(_, let reason))) = search.found else {
      Issue.record("\(search.found)")
      return
    }
    #expect(reason.contains("several devices match: three, two"))
  }

  @Test func withoutAMatchTheDeviceIsNotFound() throws {
    guard case .failure(.deviceNotFound) = try Self.search([("lamp", "Lamp")]).found else {
      Issue.record("a lamp is not a strap")
      return
    }
  }

  @Test func aFaultOfTheScannerIsReportedUnchanged() throws {
    let off = ScanFault.adapterUnavailable(
      cause: "The adapter is off.", remedy: .advice("Switch it on."))
    let found = try VirtualTimeline().run { clock in
      await Self.first(AdvertisementFilter(), ScriptedScanner([], ending: off, clock: clock), clock)
    }
    #expect(found == .failure(off))
  }

  @Test func aScanningDialerReportsItsStepsAndItsFault() throws {
    let steps = try VirtualTimeline().run { clock -> [String] in
      let (near, far) = MemoryLink.pair(capacity: 4)
      let scanner = ScriptedScanner([device("a")], clock: clock, link: near)
      let answering = Self.dialer(to: /a/, scanner, clock)
      let silent = Self.dialer(to: /b/, scanner, clock)
      return await Self.steps(of: answering, far, clock) + Self.steps(of: silent, far, clock)
    }
    #expect(
      steps == [
        "scanning", "discovered", "connecting", "connected", "idle", "nil",
        "scanning", "idle", "deviceNotFound",
      ])
  }

  private static func dialer(
    to name: sending Regex<Substring>, _ scanner: ScriptedScanner, _ clock: VirtualClock
  ) -> Dialer {
    Dialer(to: AdvertisementFilter(name: name), from: scanner, within: .seconds(10), on: clock)
  }

  /// The states of a connection until it is closed, and the failure of the connection attempt.
  private static func steps(
    of dialer: Dialer, _ far: MemoryLink, _ clock: VirtualClock
  ) async -> [String] {
    let (steps, fault) = await withPeripheral(dialer, clock: clock) { peripheral in
      let steps = peripheral.transitions()
      var fault = "nil"
      do throws(PeripheralFault) {
        try await peripheral.perform("connect") { (_) async throws(GATTFault) in }
      } catch .connect(.deviceNotFound) { fault = "deviceNotFound" } catch { fault = "\(error)" }
      return (steps, fault)
    }
    var names: [String] = []
    for await step in steps { names.append(step.to.rawValue) }
    return names + [fault]
  }

  private static func first(
    _ filter: AdvertisementFilter, _ scanner: ScriptedScanner, _ clock: VirtualClock
  ) async -> Result<Advertisement, ScanFault> {
    do throws(ScanFault) {
      return .success(try await scanner.first(matching: filter, within: .seconds(10), on: clock))
    } catch {
      return .failure(error)
    }
  }
}
