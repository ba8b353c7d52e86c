import Door
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Synchronization
import Testing

/// Tests of an app's update flow, with simulated boards in virtual time.
@Suite struct UpdateTests {
  private static let next = FirmwareVersion(1, 3, 0)
  private static let image = FirmwareImage(
    name: "app", format: .binary, bytes: (0..<40_000).map { _ in .random(in: 0...255) },
    version: FirmwareVersion(1, 3, 0), hardware: .any)

  @Test func aLostLinkIsRetriedByTheApp() throws {
    var options = UpdateOptions()
    options.mode = .withoutResponse
    options.reconnection = .none
    let result = try simulate("sim:?cut-at-pdu=60") { [options] board, clock in
      let model = DoorModel(board.dialer, clock: clock)
      do throws(QueueFault<UpdateFault>) {
        _ = try await model.update(to: Self.image, options: options, attempts: 0)
        Issue.record("the link was not lost")
      } catch .failed(.linkLost(_, let stage, resumable: true, let acknowledged)) {
        #expect(stage == .upload && acknowledged > 0)
      }
      return try await model.update(to: Self.image, options: options)
    }
    #expect(result.isVerified && result.resumes == 1)
    let alone = try simulate("sim:?cut-at-pdu=60") { [options] board, clock in
      try await DoorModel(board.dialer, clock: clock).update(to: Self.image, options: options)
    }
    #expect(alone.isVerified && alone.resumes == 1)
  }

  @Test func aBoardIsInspectedBeforeItIsUpdated() throws {
    let inspection = try simulate { board, clock in
      try await DeviceInspection(images: [Self.image]).run(on: board.dialer, clock: clock)
    }
    #expect(inspection.device?.runningVersion == FirmwareVersion(1, 2, 0))
    guard case .send(let plan) = try inspection.prospects.first?.decision.get() else {
      Issue.record("the image would not be sent")
      return
    }
    #expect(plan.version == Self.next)
  }

  @Test func noOtherCommandInterruptsAnUpdate() throws {
    let order = try simulate { board, clock in
      let order = Mutex<[String]>([])
      let begun = OneTime()
      let note: @Sendable (String) -> Void = { line in order.withLock { $0.append(line) } }
      try await withPeripheral(board.dialer, clock: clock) { door in
        let update = FirmwareUpdate(image: Self.image) { event in
          guard case .progress = event, !begun.hasHappened else { return }
          // Another caller uses the device during the update.
          begun.happen()
          door.enqueue(Command<PeripheralTurn, Void, Never>("other") { _ in note("other") })
        }
        _ = try await door.perform(
          update.command.followed(by: Command("note") { _ in note("update") }))
        try await door.perform("behind it") { _ in }
      }
      return order.withLock { $0 }
    }
    #expect(order == ["update", "other"])
  }

  @Test func theThroughputOfTheLinkIsMeasured() throws {
    var setting = LinkBenchmark.Setting()
    setting.mtu = 247
    setting.size = 20_000
    let measured = try simulate("sim:?ring=60K") { [setting] board, clock in
      try await LinkBenchmark(setting: setting).run(on: board.dialer, clock: clock)
    }
    #expect(measured.map(\.bytes) == [20_000])
    #expect(measured[0].bytesPerSecond > 1000)
  }
}

private final class OneTime: Sendable {
  private let flag = Mutex(false)
  var hasHappened: Bool { flag.withLock { $0 } }
  func happen() { flag.withLock { $0 = true } }
}
