import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

/// An adapter that reports two devices alternately, one report per second, with rising signal
/// strength. It counts its scans, and runs one scan at a time.
private final class Ear: Scanner {
  private struct State {
    var scans = 0
    var isScanning = false
  }

  let clock: VirtualClock
  let fails: Bool
  private let state = Mutex(State())

  init(clock: VirtualClock, fails: Bool = false) {
    self.clock = clock
    self.fails = fails
  }

  var scans: Int { state.withLock { $0.scans } }
  var isScanning: Bool { state.withLock { $0.isScanning } }

  private func begin() -> Bool {
    state.withLock { state in
      guard !state.isScanning else { return false }
      state.scans += 1
      state.isScanning = true
      return true
    }
  }

  private func end() { state.withLock { $0.isScanning = false } }

  func advertisements(matching filter: AdvertisementFilter, eachOnce: Bool) -> Reports {
    Reports(ear: self, filter: filter)
  }

  private final class Run: Sendable {
    let ear: Ear
    init(_ ear: Ear) { self.ear = ear }
    deinit { ear.end() }
  }

  struct Reports: AsyncSequence, AsyncIteratorProtocol {
    let ear: Ear
    let filter: AdvertisementFilter
    private var run: Run?
    private var count = 0

    init(ear: Ear, filter: AdvertisementFilter) {
      self.ear = ear
      self.filter = filter
    }

    func makeAsyncIterator() -> Reports { self }

    mutating func next() async throws(ScanFault) -> Advertisement? {
      try await next(isolation: nil)
    }

    mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ScanFault) -> Advertisement? {
      if run == nil {
        guard ear.begin() else { throw .busy(cause: "It scans already.", remedy: .advice("Wait.")) }
        run = Run(ear)
      }
      guard await ear.clock.pause(for: .seconds(1)) else { throw .cancelled }
      if ear.fails { throw .failed(reason: "It broke.") }
      count += 1
      return Advertisement(
        id: count.isMultiple(of: 2) ? "near" : "far", name: nil,
        rssi: count.isMultiple(of: 2) ? -60 + count : -90 + count, services: [])
    }
  }
}

@Suite struct SharedScanTests {
  private static func collect(
    _ count: Int, _ scan: SharedScan, eachOnce: Bool = false
  ) async -> [Int?] {
    var strengths: [Int?] = []
    do throws(ScanFault) {
      for try await device in scan.advertisements(
        matching: AdvertisementFilter(), eachOnce: eachOnce)
      {
        strengths.append(device.rssi)
        if strengths.count == count { break }
      }
    } catch {
      Issue.record(error)
    }
    return strengths
  }

  @Test func oneScanServesAllReadersFromTheFirstToTheLast() throws {
    try VirtualTimeline().run { clock in
      let ear = Ear(clock: clock)
      let scan = SharedScan(of: ear)
      #expect(!ear.isScanning)
      async let long = Self.collect(5, scan)
      async let short = Self.collect(2, scan, eachOnce: true)
      #expect(await short == [-89, -58])
      #expect(ear.isScanning)
      #expect(await long == [-89, -58, -87, -56, -85])
      await clock.pause(for: .milliseconds(1))
      #expect(!ear.isScanning)
      #expect(ear.scans == 1)
      #expect(scan.devices.map(\.rssi) == [-56, -85], "latest reports, the strongest first")
      // A later reader starts a separate scan, even if the previous scan has not ended yet.
      #expect(await Self.collect(1, scan) == [-89])
      #expect(await Self.collect(1, scan) == [-89])
      #expect(ear.scans == 3)
    }
  }

  @Test func theListIsDeliveredImmediatelyAndAfterEachChange() throws {
    try VirtualTimeline().run { clock in
      let scan = SharedScan(of: Ear(clock: clock), devicesMaximum: 2)
      var lists: [[String]] = []
      do throws(ScanFault) {
        for try await list in scan.lists() {
          lists.append(list.map { "\($0.id) \($0.rssi ?? 0)" })
          if lists.count == 4 { break }
        }
      } catch {
        Issue.record(error)
      }
      #expect(lists == [[], ["far -89"], ["near -58", "far -89"], ["near -58", "far -87"]])
    }
  }

  @Test func aFailingScanEndsForEveryReaderWithItsFault() throws {
    let faults = try VirtualTimeline().run { clock -> [ScanFault?] in
      let scan = SharedScan(of: Ear(clock: clock, fails: true))
      return await withTaskGroup(of: ScanFault?.self) { group in
        for _ in 0..<2 {
          group.addTask {
            do throws(ScanFault) {
              for try await _ in scan.advertisements(matching: AdvertisementFilter()) {}
              return nil
            } catch {
              return error
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
    }
    #expect(faults == [.failed(reason: "It broke."), .failed(reason: "It broke.")])
  }

  @Test func aWindowCollectsTheLatestReports() throws {
    let (found, at) = try VirtualTimeline().run { clock in
      let ear = Ear(clock: clock)
      let scan = SharedScan(of: ear)
      do throws(ScanFault) {
        let found = try await scan.discovered(for: .milliseconds(4_500), on: clock)
        return (found.map(\.rssi), clock.now.elapsed)
      } catch {
        return ([], clock.now.elapsed)
      }
    }
    #expect(found == [-56, -87])
    #expect(at == .milliseconds(4_500))
  }
}
