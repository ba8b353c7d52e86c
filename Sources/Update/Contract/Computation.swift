import OtaflashGATT
import Synchronization

/// Where an update does what takes long and waits for nothing: patches are made there.
///
/// Beside the task's own executor other links go on meanwhile. On it, in a simulation, it takes no
/// time, and every run is the same.
public struct Computation: Sendable {
  /// More that wait than any machine has updates for.
  private static let waitersMaximum = 4096

  /// `nil` = where the task is.
  private let lanes: [SerialGate]?

  /// On the task's own executor.
  public static let inline = Computation(lanes: nil)

  /// On Swift's own threads, so many at a time at most (1 or more); others wait.
  public static func threads(atMost width: Int) -> Computation {
    precondition(width >= 1, "nothing is computed on no thread")
    return Computation(
      lanes: (0..<width).map { _ in SerialGate(waitersMaximum: waitersMaximum) })
  }

  private init(lanes: [SerialGate]?) { self.lanes = lanes }

  /// It takes time in which others go on.
  var isElsewhere: Bool { lanes != nil }

  /// Runs `body`, which looks at `Task.isCancelled` now and then; `nil` when the task was cancelled
  /// before it began.
  func run<Value: Sendable>(_ body: @Sendable () -> Value) async -> Value? {
    guard let lanes else { return body() }
    let lane = lanes.min { $0.waitingCount < $1.waitingCount } ?? lanes[0]
    let free = lanes.first { $0.enterNow() }
    if free == nil, await lane.enter() != .entered { return nil }
    defer { (free ?? lane).leave() }
    return await withTaskExecutorPreference(globalConcurrentExecutor) { body() }
  }
}
