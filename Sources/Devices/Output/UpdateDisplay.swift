import OtaflashConsole
import OtaflashUpdate
import Synchronization

/// Displays the updates of a run: as a transcript, or as JSON events.
package final class UpdateDisplay: Sendable {
  private struct State: Sendable {
    var traces = UpdateTraces()
    var transcript: HumanTranscript
  }

  private let console: Console
  private let device: String
  private let state: Mutex<State>
  private let start = ContinuousClock.now

  package init(on console: Console, device: String?) {
    self.console = console
    let name = device ?? ""
    self.device = name
    let settings = console.settings
    state = Mutex(
      State(
        transcript: HumanTranscript(
          device: name, targetVersion: nil, progress: settings.progress,
          style: settings.errorStyle, airLimit: AirLimit.bytesPerSecond)))
  }

  /// Sets the version that `flash` is about to install, for the headline.
  package func announce(targetVersion: String?) {
    state.withLock { $0.transcript.announce(targetVersion: targetVersion) }
  }

  /// Displays one step of an update.
  package func observe(_ update: UpdateEvent) {
    guard !console.settings.json else { return observe(update, of: device) }
    let now = ContinuousClock.now - start
    state.withLock { perform($0.transcript.observe(update, at: now)) }
  }

  /// Displays one step of one of several updates, only for JSON: text output shows all updates in
  /// one block.
  package func observe(_ update: UpdateEvent, of device: String) {
    guard console.settings.json else { return }
    let now = ContinuousClock.now - start
    state.withLock { report($0.traces.observe(update, of: device, at: now)) }
  }

  /// Closes the open tasks of one of several updates.
  package func end(updateOf device: String, ok: Bool) {
    let now = ContinuousClock.now - start
    state.withLock { report($0.traces.end(device, ok: ok, at: now)) }
  }

  /// Closes the open tasks of all updates, before an error or the result.
  package func end(ok: Bool) {
    let now = ContinuousClock.now - start
    state.withLock { report($0.traces.endAll(ok: ok, at: now)) }
  }

  /// Redraws the time-dependent lines.
  package func tick() {
    let now = ContinuousClock.now - start
    state.withLock { perform($0.transcript.tick(at: now)) }
  }

  private func report(_ events: [DeviceTrace.Line]) {
    for event in events { console.event(event.type, event.members) }
  }

  private func perform(_ steps: [HumanTranscript.Step]) {
    for step in steps {
      switch step {
      case .line(let line): console.note(line)
      case .transient(let line): console.show(line.isEmpty ? [] : [line])
      }
    }
  }
}
