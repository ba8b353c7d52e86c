import OtaflashGATT
import Synchronization

/// The executor for the long computations of an update, such as the creation of patches.
///
/// With `threads`, other links continue during a computation. With `inline`, a computation in a
/// simulation takes no virtual time, and every run is identical.
public struct Computation: Sendable {
  /// The maximum number of computations that wait for one thread; it exceeds the number of updates
  /// on one host.
  private static let waitersMaximum = 4096

  /// One gate for each thread; `nil` = the executor of the task.
  private let lanes: [SerialGate]?

  /// Runs computations on the executor of the task.
  public static let inline = Computation(lanes: nil)

  /// Returns an executor that runs at most `width` (1 or more) computations at the same time on
  /// threads of Swift's global executor; further computations wait.
  public static func threads(atMost width: Int) -> Computation {
    precondition(width >= 1, "the number of threads must be 1 or more")
    return Computation(
      lanes: (0..<width).map { _ in SerialGate(waitersMaximum: waitersMaximum) })
  }

  private init(lanes: [SerialGate]?) { self.lanes = lanes }

  /// Whether other tasks can run during a computation.
  var isElsewhere: Bool { lanes != nil }

  /// Runs `body`, which must check `Task.isCancelled` regularly. Returns `nil` if the task was
  /// cancelled while it waited for a thread, or if too many tasks already wait.
  func run<Value: Sendable>(_ body: @Sendable () -> Value) async -> Value? {
    guard let lanes else { return body() }
    let lane = lanes.min { $0.waitingCount < $1.waitingCount } ?? lanes[0]
    let free = lanes.first { $0.enterNow() }
    if free == nil, await lane.enter() != .entered { return nil }
    defer { (free ?? lane).leave() }
    return await withTaskExecutorPreference(globalConcurrentExecutor) { body() }
  }
}
