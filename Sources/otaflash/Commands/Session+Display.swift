import OtaflashConsole
import OtaflashDevices

extension Session {
  /// A part of `displaying` that has ended.
  private enum Part<Value: Sendable>: Sendable {
    case body(Value)
    case limit
    case display
  }

  private static let tickInterval = Duration.milliseconds(250)

  /// Refreshes the display while a body runs, and cancels the body after a time limit.
  ///
  /// - Returns: the value of the body, and whether the limit was reached.
  func displaying<Value: Sendable>(
    atMost limit: Duration? = nil, _ body: @escaping @Sendable () async -> Value
  ) async -> (value: Value, isLate: Bool) {
    await withTaskGroup(of: Part<Value>.self) { group in
      group.addTask { .body(await body()) }
      group.addTask {
        while await Pause.sleep(for: Self.tickInterval) { updates.tick() }
        return .display
      }
      if let limit { group.addTask { await Pause.sleep(for: limit) ? .limit : .display } }
      var isLate = false
      for await part in group {
        switch part {
        case .body(let value):
          group.cancelAll()
          return (value, isLate)
        case .limit:
          isLate = true
          group.cancelAll()
        case .display: break
        }
      }
      preconditionFailure("the body ended without a value")
    }
  }
}
