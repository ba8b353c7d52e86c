/// The command line's own waits, on the wall's clock.
package enum Pause {
  /// `false` when the task was cancelled first.
  package static func sleep(for duration: Duration) async -> Bool {
    do {
      try await Task.sleep(for: duration)
      return true
    } catch {
      return false
    }
  }
}
