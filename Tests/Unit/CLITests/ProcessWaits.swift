import Dispatch
import Foundation
import Testing

/// Runs the tests of a suite on separate threads, a few at a time. These tests wait for programs,
/// and the pool that all other tests share has only as many threads as the host has cores.
struct ProcessWaits: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(WaitingThreads.shared, operation: function)
  }
}

extension Trait where Self == ProcessWaits {
  /// The trait of suites whose tests wait for programs.
  static var waitsForPrograms: Self { Self() }
}

/// The threads that run jobs, one thread for each job, a few at a time.
private final class WaitingThreads: TaskExecutor {
  static let shared = WaitingThreads()
  private let places = DispatchSemaphore(value: 8)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedTaskExecutor()
    Thread.detachNewThread { [places] in
      places.wait()
      defer { places.signal() }
      job.runSynchronously(on: executor)
    }
  }
}
