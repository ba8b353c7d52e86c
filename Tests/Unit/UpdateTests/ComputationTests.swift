import Dispatch
import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import Synchronization
import Testing

@testable import OtaflashUpdate

/// Tests of the executor on which patches are created: the task's own executor, on which links
/// wait, or other threads.
@Suite struct ComputationTests {
  /// An executor that runs all jobs on one queue, and can detect that code runs on this queue.
  private final class Queue: TaskExecutor {
    private static let key = DispatchSpecificKey<Bool>()
    private let queue = DispatchQueue(label: "links")

    init() { queue.setSpecific(key: Self.key, value: true) }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    static var isHere: Bool { DispatchQueue.getSpecific(key: key) ?? false }
  }

  @Test func onlyInlineComputationsStayOnTheExecutorOfTheTask() async {
    let found = await withTaskExecutorPreference(Queue()) {
      let inline = await Computation.inline.run { Queue.isHere }
      let threads = await Computation.threads(atMost: 2).run { Queue.isHere }
      return [inline, threads, Queue.isHere]
    }
    #expect(found == [true, false, true])
    #expect(!Computation.inline.isElsewhere && Computation.threads(atMost: 1).isElsewhere)
  }

  /// The second computation waits for the first; if the second is cancelled, it never starts.
  @Test func theNumberOfConcurrentComputationsIsLimited() async {
    let computation = Computation.threads(atMost: 1)
    let (began, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let first = Task {
      await computation.run {
        began.signal()
        end.wait()
        return 1
      }
    }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        began.wait()
        continuation.resume()
      }
    }
    let second = Task { await computation.run { 2 } }
    second.cancel()
    #expect(await second.value == nil)
    end.signal()
    #expect(await first.value == 1)
    #expect(await computation.run { 3 } == 3)
  }

  /// A clock that does not advance. All awaited events occur, so no time limit is needed.
  private struct StillClock: LinkClock {
    var now: LinkInstant { .start }
    var minimumResolution: Duration { .nanoseconds(1) }
    func randomFraction() -> Double { 0 }
    func sleep(until deadline: LinkInstant, tolerance: Duration?) async throws {
      guard await OneShot<Void>().wait() != nil else { throw CancellationError() }
    }
  }

  /// If a patch is required, the host searches for the base before it sends anything. The search
  /// may read files.
  @Test(arguments: [false, true])
  func theBaseOfARequiredPatchIsSearchedOnTheConfiguredExecutor(_ isBeside: Bool) async throws {
    let old = UpdateTests.image(size: 20_000, version: FirmwareVersion(1, 2, 0), seed: 7).bytes
    let found = FoundPlaces()
    var options = UpdateOptions()
    (options.patches.policy, options.isDryRun) = (.require, true)
    options.patches.bases = BaseFinder(computation: isBeside ? .threads(atMost: 1) : .inline) { _ in
      found.note(Queue.isHere)
      return old
    }
    let new = UpdateTests.image(size: 20_000, version: FirmwareVersion(1, 3, 0), seed: 8)
    let update = FirmwareUpdate(image: new, options: options) { _ in }
    let device = PatchDevice(running: old)
    let outcome = await withTaskExecutorPreference(Queue()) {
      await withTaskGroup(of: Void.self) { group in
        let links = device.open()
        group.addTask { await device.run(links, on: StillClock()) }
        defer { group.cancelAll() }
        do throws(UpdateFault) {
          return Result<UpdateResult, UpdateFault>.success(
            try await update.run(on: device.dialer, clock: StillClock()))
        } catch {
          return .failure(error)
        }
      }
    }
    #expect(try outcome.get().outcome == .wouldFlash)
    #expect(found.all == [!isBeside])
  }

  private final class FoundPlaces: Sendable {
    private let places = Mutex<[Bool]>([])
    var all: [Bool] { places.withLock { $0 } }
    func note(_ isOnLinks: Bool) { places.withLock { $0.append(isOnLinks) } }
  }
}
