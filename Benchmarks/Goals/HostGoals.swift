import Glibc
import OtaflashBlueZ
import OtaflashGATT
import OtaflashUpdate

/// Goals of the host: the cost of a transfer over a real Unix socket in this process.
struct HostGoals {
  private static let fleetSize = 200
  private static let fleetRate = 100_000.0
  private static let fleetSeconds = 10

  let sinkDevice: String

  /// Measures all goals; reports each part as soon as it is known.
  func all(_ report: @MainActor ([Goal]) -> Void) async throws {
    let device = try DeviceProcess(sinkDevice, name: "host")
    defer { device.stop() }
    await report(try await throughputGoals(device))
    await report(try await PlainHostComparison(goals: self, device: device).all())
    await report([try await fleetGoal()])
  }

  // MARK: One device

  private func throughputGoals(_ device: DeviceProcess) async throws -> [Goal] {
    _ = try await transfer(to: device, size: 1 << 20, repeats: 4)
    let before = ProcessCost.now
    let found = try await transfer(to: device, size: 4 << 20, repeats: 16)
    let cost = ProcessCost.now - before
    let bytes = found.reduce(0) { $0 + $1.bytes }
    let megabytesPerSecond = Double(bytes) / 1e6 / cost.processorSeconds
    let wall = found.map(\.bytesPerSecond).sorted()[found.count / 2] / 1e6
    return [
      Goal(
        what: "rate of the host over a Unix socket, writes of \(found[0].chunk + 4) bytes without "
          + "response",
        wanted: "≥ 100 MB/s on one core",
        measured: "\(Figure.fixed(megabytesPerSecond)) MB per CPU second "
          + "(\(Figure.fixed(wall)) MB/s wall-clock)", isMet: megabytesPerSecond >= 100),
      Goal(
        what: "resident memory during repeated transfers of 4 MiB", wanted: "< 40 MB",
        measured: "\(Figure.fixed(ProcessCost.residentMegabytes)) MB",
        isMet: ProcessCost.residentMegabytes < 40),
    ]
  }

  func transfer(
    to device: DeviceProcess, size: Int, repeats: Int
  ) async throws -> [LinkBenchmark.Measurement] {
    var setting = LinkBenchmark.Setting()
    setting.mode = .withoutResponse
    setting.mtu = 498
    setting.size = size
    setting.repeats = repeats
    let benchmark = LinkBenchmark(setting: setting)
    let path = device.path
    let dialer = Dialer { () async throws(ConnectFault) -> any Link in
      try await UnixLink.connect(path: path, within: .seconds(10))
    }
    let result = await withTaskExecutorPreference(EventLoop.shared) {
      () async -> Result<[LinkBenchmark.Measurement], UpdateFault> in
      do throws(UpdateFault) {
        return .success(try await benchmark.run(on: dialer, clock: EventLoopClock()))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  // MARK: Many devices

  private func fleetGoal() async throws -> Goal {
    let devices = try (0..<Self.fleetSize).map {
      try DeviceProcess(sinkDevice, name: "fleet\($0)", bytesPerSecond: Int(Self.fleetRate))
    }
    defer { for device in devices { device.stop() } }
    let size = Int(Self.fleetRate) * Self.fleetSeconds
    let before = ProcessCost.now
    let rates = try await withThrowingTaskGroup(of: Double.self) { group in
      for device in devices {
        group.addTask {
          try await transfer(to: device, size: size, repeats: 1)[0].bytesPerSecond
        }
      }
      var rates: [Double] = []
      for try await rate in group { rates.append(rate) }
      return rates
    }
    let cost = ProcessCost.now - before
    let slowest = (rates.min() ?? 0) / Self.fleetRate
    let cores = cost.processorSeconds / cost.wallSeconds
    return Goal(
      what: "one process with \(Self.fleetSize) devices on Unix sockets, 100 kB/s each",
      wanted: "≤ 1 core; each device ≥ 95 % of its rate",
      measured: "\(Figure.fixed(cores, digits: 2)) cores; slowest device "
        + "\(Figure.percent(slowest)); peak memory "
        + "\(Figure.fixed(ProcessCost.mostResidentMegabytes)) MB, including "
        + "\(Figure.fixed(Double(Self.fleetSize * size) / 1e6)) MB of images",
      isMet: cores <= 1 && slowest >= 0.95)
  }
}
