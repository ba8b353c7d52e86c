import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashSwarm
import OtaflashUpdate
import Synchronization

/// The goal of a transfer of resources to InfiniTime, in virtual time.
enum ResourceGoals {
  private static let size = 64 * 1024
  /// The headers of a request with data and of an answer with content in bytes, including ATT.
  private static let headers = (data: 15, content: 19)
  /// The time to erase and program a page of the watch, 4 KiB.
  private static let pageTime = Duration.milliseconds(45) + .microseconds(3) * 4096

  /// Measures one file, which is also read back. The service permits one request at a time, and
  /// the answer to a request arrives one interval later. The watch closes the file after each
  /// request, and therefore rewrites a page of the file and a page of the directory.
  static func rate() throws -> Goal {
    let profile = try SimulationProfile(parsing: "sim:infinitime?phy=1M&interval=15ms&files=256K")
    var random = SeededRandom(seed: 1)
    let package = ResourcePackage(
      name: "-",
      files: [.init(name: "font", path: "/font.bin", bytes: random.bytes(count: size))])
    let facts = Mutex((mtu: 0, took: Duration.zero))
    let update = ResourceUpdate(package) { event in
      switch event {
      case .connected(let link): facts.withLock { $0.mtu = link.mtu }
      case .stageEnded(.upload, let took): facts.withLock { $0.took = took }
      default: break
      }
    }
    let outcome = try VirtualRun.of(profile) { (dialer, clock) async throws(UpdateFault) in
      try await update.run(on: dialer, clock: clock)
    }
    let (mtu, took) = facts.withLock { $0 }
    let writes = parts(of: mtu - headers.data)
    let requests = writes + parts(of: mtu - headers.content)
    let ideal = profile.radio.interval.duration * (2 * requests) + pageTime * (2 * writes)
    let share = ideal / took
    return Goal(
      what: "InfiniTime, a resource of 64 KiB, 1M, 15 ms, MTU \(mtu), sent and read back",
      wanted: "≥ 95 % of one request per two intervals plus two pages of flash per write",
      measured: "\(Figure.percent(share)) "
        + "(\(Figure.kilobytes(Double(size) / (took / .seconds(1)))), "
        + "\(Figure.fixed(took / .seconds(1))) s)",
      isMet: share >= 0.95 && outcome.sent == ["/font.bin"])
  }

  /// Returns the number of parts of the file.
  private static func parts(of length: Int) -> Int { (size + length - 1) / length }
}
