import Door
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Synchronization
import Testing

/// What an app tests of its own update flow, against boards that are simulated in virtual time.
@Suite struct UpdateTests {
  private static let image = FirmwareImage(
    name: "app", format: .binary, bytes: [UInt8](repeating: 0xA5, count: 40_000),
    version: FirmwareVersion(1, 3, 0), hardware: .any)

  @Test func anUpdateOverABadLinkIsVerified() throws {
    let result = try simulate("sim:?loss=2%") { board, clock in
      try await FirmwareUpdate(image: Self.image).run(on: board.dialer, clock: clock)
    }
    #expect(result.verified)
  }

  @Test func theAppShowsProgress() throws {
    let shown = Mutex<[Int]>([])
    let result = try simulate { board, clock in
      try await DoorModel(board.dialer, clock: clock).update(to: Self.image) { percent in
        shown.withLock { $0.append(percent) }
      }
    }
    #expect(result.verified)
    let percents = shown.withLock { $0 }
    #expect(percents == percents.sorted())
    #expect(percents.last == 100)
  }

  @Test func aCancelledUpdateGoesOnWhereItStopped() throws {
    let result = try simulate { board, clock in
      let model = DoorModel(board.dialer, clock: clock)
      let half = OneTime()
      let first = await withTaskGroup(of: Bool.self) { group in
        group.addTask {
          do {
            _ = try await model.update(to: Self.image) { if $0 >= 50 { half.happen() } }
            return true
          } catch { return false }
        }
        while !half.hasHappened { _ = await clock.pause(for: .milliseconds(10)) }
        group.cancelAll()
        return await group.next() ?? true
      }
      #expect(!first)
      return try await model.update(to: Self.image) { _ in }
    }
    #expect(result.resumes == 1)
    #expect(result.octetsSent < 30_000)
  }
}

private final class OneTime: Sendable {
  private let flag = Mutex(false)
  var hasHappened: Bool { flag.withLock { $0 } }
  func happen() { flag.withLock { $0 = true } }
}
