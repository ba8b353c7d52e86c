import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Synchronization
import Testing

/// Stops updates at many moments. The fault must state whether the device was already requested to
/// restart.
@Suite struct StopAfterActivationTests {
  enum Stop: CaseIterable {
    case cancellation
    case commandLimit
    case queueLimit
  }

  struct Outcome: Sendable {
    let fault: UpdateFault?
    let hasActivated: Bool
    let took: Duration
    let next: UpdateResult
  }

  private static let update = image(size: 40_000)

  /// Stops an update after `moment`, and then runs it again.
  private static func run(_ stop: Stop, after moment: Duration) throws -> Outcome {
    try simulate("sim:") { board, clock in
      let hasActivated = Mutex(false)
      let update = FirmwareUpdate(image: update) { event in
        if case .stageBegan(.activate) = event { hasActivated.withLock { $0 = true } }
      }
      return try await withPeripheral(board.dialer, clock: clock) { peripheral in
        let fault = await Self.fault(of: update, on: peripheral, stop, after: moment)
        let took = clock.now.elapsed
        let activated = hasActivated.withLock { $0 }
        let next = try await peripheral.perform(FirmwareUpdate(image: Self.update).command)
        return Outcome(fault: fault, hasActivated: activated, took: took, next: next)
      }
    }
  }

  /// Performs the update, stops it, and returns its fault. Returns `nil` if the update succeeded
  /// before the stop, or if the queue failed instead of the update.
  private static func fault(
    of update: FirmwareUpdate, on peripheral: Peripheral, _ stop: Stop, after moment: Duration
  ) async -> UpdateFault? {
    do throws(QueueFault<UpdateFault>) {
      switch stop {
      case .cancellation:
        let enqueued = peripheral.enqueue(update.command)
        await peripheral.clock.pause(for: moment)
        enqueued.cancel()
        _ = try await enqueued.value
      case .commandLimit: _ = try await peripheral.perform(update.command.timeLimit(moment))
      case .queueLimit:
        let limited = peripheral.timeLimit(moment, on: peripheral.clock)
        _ = try await limited.perform(update.command)
      }
      return nil
    } catch {
      guard case .failed(let failure) = error else { return nil }
      return failure
    }
  }

  @Test(arguments: Stop.allCases)
  func theFaultStatesWhetherARestartWasRequested(_ stop: Stop) throws {
    let whole = try simulate("sim:") { board, clock in
      _ = try await FirmwareUpdate(image: Self.update).run(on: board.dialer, clock: clock)
      return clock.now.elapsed
    }
    var afterActivation = 0
    var moment = Duration.milliseconds(15)
    while moment < whole {
      let outcome = try Self.run(stop, after: moment)
      switch outcome.fault {
      case .stoppedAfterActivation(let interruption, let expected):
        #expect(outcome.hasActivated, "stopped after \(moment)")
        #expect(interruption == (stop == .cancellation ? .cancellation : .timeLimit(moment)))
        #expect(expected == Self.update.version)
        afterActivation += 1
      case .cancelled(let resumable, let acknowledged):
        #expect(stop == .cancellation && !outcome.hasActivated, "stopped after \(moment)")
        #expect(resumable == (acknowledged > 0))
      case .timedOut(_, let resumable, let acknowledged):
        #expect(stop != .cancellation && !outcome.hasActivated, "stopped after \(moment)")
        #expect(resumable == (acknowledged > 0))
      case .some(let fault): Issue.record("stopped after \(moment): \(fault)")
      case nil: Issue.record("the update ended before \(moment)")
      }
      #expect(outcome.next.to == Self.update.version)
      moment += .milliseconds(97)
    }
    #expect(afterActivation >= 5, "the restart takes about a second")
  }

  @Test func theMessageStatesTheMissingChecks() throws {
    let fault = UpdateFault.stoppedAfterActivation(
      by: .cancellation, expected: FirmwareVersion(1, 3, 0))
    #expect(fault.explanation.contains("asked to restart into 1.3.0"))
    #expect(!fault.endsTransfer)
    #expect(
      fault.ended(by: .seconds(2))
        == .stoppedAfterActivation(by: .timeLimit(.seconds(2)), expected: FirmwareVersion(1, 3, 0)))
  }

  /// A firmware loader, or a bootloader with one bank, keeps no data and has overwritten the
  /// application.
  @Test func aStopWithoutAnApplicationNamesTheMissingApplication() {
    for fault in [
      UpdateFault.cancelled(resumable: false, acknowledged: 100),
      .timedOut(after: .seconds(1), resumable: false, acknowledged: 100),
    ] {
      #expect(fault.explanation.contains("no application until the upload is complete"))
    }
    let kept = UpdateFault.cancelled(resumable: true, acknowledged: 100)
    #expect(!kept.explanation.contains("application"))
  }
}
