import OtaflashBlueZ
import OtaflashDevices
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate

/// Measures each setting in sequence.
package struct BenchmarkSweep: Sendable {
  /// The setting of a measurement.
  package struct Case: Sendable {
    package var setting: LinkBenchmark.Setting
    /// Whether the MTU is the size that fills connection events.
    package var isBest = false

    package init(setting: LinkBenchmark.Setting, isBest: Bool = false) {
      self.setting = setting
      self.isBest = isBest
    }
  }

  /// The limit of virtual time for one setting.
  private static let virtualLimit = Duration.seconds(24 * 3600)

  package let key: [UInt8]?
  package var capture: CaptureFile?
  /// The device's name in captures if it is measured in virtual time.
  package var device = ""

  package init(key: [UInt8]?, capture: CaptureFile? = nil, device: String = "") {
    self.key = key
    self.capture = capture
    self.device = device
  }

  /// Measures a simulated device in virtual time, with the same code as in real time.
  package func measure(
    _ entry: Case, inVirtualTime profile: SimulationProfile
  ) throws(CommandFault) -> BenchmarkRow {
    let roundTrips = RoundTrips()
    let timeline = VirtualTimeline()
    let board: SimulatedBoard
    do throws(FlashFault) {
      board = try SimulatedBoard(profile: profile, clock: timeline.clock)
    } catch {
      throw .simulation(error.sentence)
    }
    let result: Result<[LinkBenchmark.Measurement], UpdateFault>
    do throws(SimulationFault) {
      result = try timeline.run(limit: Self.virtualLimit) { clock in
        await withTaskGroup(of: Void.self) { group in
          group.addTask { await board.run() }
          defer { group.cancelAll() }
          let dialer = Dialer { () async throws(ConnectFault) -> any Link in
            try await board.dial()
          }
          let recorded = capture?.recording(
            dialer, to: CapturedPeer(standingFor: device), on: clock)
          return await measure(entry.setting, over: recorded ?? dialer, clock, roundTrips)
        }
      }
    } catch {
      throw .simulation("the simulated device did not finish: \(error)")
    }
    return try row(entry, result, roundTrips, profile.radio)
  }

  /// Measures a device in real time.
  ///
  /// - Parameter profile: the parameters of a simulated device; `nil` for another device.
  package func measure(
    _ entry: Case, at destination: ResolvedDevice, profile: SimulationProfile?
  ) async throws(CommandFault) -> BenchmarkRow {
    let roundTrips = RoundTrips()
    let result = await destination.withDevice {
      await measure(entry.setting, over: destination.dialer, destination.clock, roundTrips)
    }
    return try row(entry, result, roundTrips, profile?.radio)
  }

  private func measure(
    _ setting: LinkBenchmark.Setting, over dialer: Dialer, _ clock: any LinkClock,
    _ roundTrips: RoundTrips
  ) async -> Result<[LinkBenchmark.Measurement], UpdateFault> {
    let benchmark = LinkBenchmark(setting: setting, key: key) { roundTrips.record($0) }
    do throws(UpdateFault) {
      return .success(try await benchmark.run(on: dialer, clock: clock))
    } catch {
      return .failure(error)
    }
  }

  private func row(
    _ entry: Case,
    _ result: Result<[LinkBenchmark.Measurement], UpdateFault>, _ roundTrips: RoundTrips,
    _ model: RadioModel?
  ) throws(CommandFault) -> BenchmarkRow {
    do throws(UpdateFault) {
      return BenchmarkRow(
        setting: entry.setting, measurements: try result.get(), roundTrips: roundTrips,
        model: model, isBest: entry.isBest)
    } catch {
      throw .update(error)
    }
  }
}
