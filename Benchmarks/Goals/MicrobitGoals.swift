import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashSwarm
import OtaflashUpdate
import Synchronization

/// The goals of partial flashing, in virtual time.
enum MicrobitGoals {
  private static let scriptSize = 10_000
  private static let link = "phy=2M&interval=15ms&mtu=247&erase=85ms&write=40ms"
  private static let boardCount = 30
  /// The number of boards that are connected at the same time.
  private static let width = 8

  static func all() throws -> [Goal] { [try rate(), try classroom()] }

  private static func image() throws -> FirmwareImage {
    try FirmwareImage.drawn(for: "sim:microbit", size: scriptSize)
  }

  // MARK: One board

  /// A block needs two connection intervals and the time of the flash, because the device has a
  /// buffer for one block.
  private static func rate() throws -> Goal {
    let profile = try SimulationProfile(parsing: "sim:microbit?\(link)")
    let uploads = Mutex<[Duration]>([])
    let update = FirmwareUpdate(image: try image()) { event in
      if case .stageEnded(.upload, let took) = event { uploads.withLock { $0.append(took) } }
    }
    let result = try VirtualRun.of(profile) { (dialer, clock) async throws(UpdateFault) in
      try await update.run(on: dialer, clock: clock)
    }
    let took = uploads.withLock { $0.last } ?? .seconds(3600)
    let blocks = (result.bytesSent + 63) / 64
    let pages = (result.bytesSent + 4095) / 4096
    let flash =
      profile.writeTimePer4KiB * blocks / 64 + profile.eraseTime * (pages + 1)
    let ideal = profile.radio.interval.duration * (2 * blocks) + flash
    let share = ideal / took
    return Goal(
      what: "micro:bit, a script of 10 kB, 2M, 15 ms, MTU 247, 85 ms to erase and 40 ms to write a "
        + "page",
      wanted: "≥ 95 % of one block of 64 bytes per two intervals plus its flash time",
      measured: "\(Figure.percent(share)) ("
        + "\(Figure.kilobytes(Double(result.bytesSent) / (took / .seconds(1)))), "
        + "\(Figure.fixed(took / .seconds(1))) s)", isMet: share >= 0.95 && result.isVerified)
  }

  // MARK: A class

  private static func classroom() throws -> Goal {
    let timeline = VirtualTimeline()
    let image = try image()
    let boards = try (0..<boardCount).map { number in
      try SimulatedBoard(
        profile: SimulationProfile(parsing: "sim:microbit?\(link)&seed=\(number + 1)"),
        clock: timeline.clock)
    }
    let air = SharedRadio()
    let (verified, took) = try timeline.run(limit: .seconds(3600)) { clock -> (Int, Duration) in
      await withTaskGroup(of: Void.self) { power in
        for board in boards { power.addTask { await board.run() } }
        defer { power.cancelAll() }
        let began = clock.now
        let verified = await update(boards, with: image, over: air, clock)
        return (verified, began.duration(to: clock.now))
      }
    }
    return Goal(
      what: "\(boardCount) micro:bits on one adapter, \(width) at a time, a script of 10 kB",
      wanted: "≤ 3 minutes, all verified",
      measured: "\(Figure.fixed(took / .seconds(1))) s, \(verified) verified",
      isMet: took <= .seconds(180) && verified == boardCount)
  }

  /// Returns the number of boards that run the program.
  private static func update(
    _ boards: [SimulatedBoard], with image: FirmwareImage, over air: SharedRadio,
    _ clock: VirtualClock
  ) async -> Int {
    await withTaskGroup(of: Bool.self) { group in
      var waiting = boards[...]
      var verified = 0
      func addNext() {
        guard let board = waiting.popFirst() else { return }
        group.addTask {
          let dialer = Dialer(at: { (place) async throws(ConnectFault) -> any Link in
            try await board.dial(at: place, over: air)
          })
          do throws(UpdateFault) {
            return try await FirmwareUpdate(image: image).run(on: dialer, clock: clock).isVerified
          } catch {
            return false
          }
        }
      }
      for _ in 0..<width { addNext() }
      while let isVerified = await group.next() {
        if isVerified { verified += 1 }
        addNext()
      }
      return verified
    }
  }
}
