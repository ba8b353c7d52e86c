import OtaflashGATT
import Synchronization

/// Where an update runs long computations, such as the creation of patches.
///
/// With `threads`, other links continue during the computation. With `inline`, in a simulation, it
/// takes no time, and every run is identical.
public struct Computation: Sendable {
  /// More waiters than one host has updates.
  private static let waitersMaximum = 4096

  /// `nil` = the executor of the task.
  private let lanes: [SerialGate]?

  /// On the task's own executor.
  public static let inline = Computation(lanes: nil)

  /// On threads of Swift's global executor, at most `width` (1 or more) at a time; others wait.
  public static func threads(atMost width: Int) -> Computation {
    precondition(width >= 1, "nothing is computed on no thread")
    return Computation(
      lanes: (0..<width).map { _ in SerialGate(waitersMaximum: waitersMaximum) })
  }

  private init(lanes: [SerialGate]?) { self.lanes = lanes }

  /// Whether other tasks can run during the computation.
  var isElsewhere: Bool { lanes != nil }

  /// Runs `body`, which checks `Task.isCancelled` now and then; `nil` if the task was cancelled
  /// before the start.
  func run<Value: Sendable>(_ body: @Sendable () -> Value) async -> Value? {
    guard let lanes else { return body() }
    let lane = lanes.min { $0.waitingCount < $1.waitingCount } ?? lanes[0]
    let free = lanes.first { $0.enterNow() }
    if free == nil, await lane.enter() != .entered { return nil }
    defer { (free ?? lane).leave() }
    return await withTaskExecutorPreference(globalConcurrentExecutor) { body() }
  }
}
