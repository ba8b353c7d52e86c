/// Waits of the command line, in real time.
package enum Pause {
  /// Waits for a duration; returns `false` if the task was cancelled first.
  package static func sleep(for duration: Duration) async -> Bool {
    do {
      try await Task.sleep(for: duration)
      return true
    } catch {
      return false
    }
  }
}
