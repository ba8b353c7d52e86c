import OtaflashUpdate

/// The updates of one or more devices, as the events of `--json` report them.
package struct UpdateTraces: Sendable {
  /// The trace of each device, in the order of the first events.
  private var traces: [DeviceTrace] = []
  private var places: [String: Int] = [:]

  package mutating func observe(
    _ event: UpdateEvent, of device: String, at now: Duration
  ) -> [DeviceTrace.Line] {
    let place = places[device] ?? traces.count
    if place == traces.count {
      places[device] = place
      traces.append(DeviceTrace(device: device))
    }
    return traces[place].observe(event, at: now)
  }

  /// Closes the open tasks of a device before its update ends.
  package mutating func end(_ device: String, ok: Bool, at now: Duration) -> [DeviceTrace.Line] {
    guard let place = places[device] else { return [] }
    return traces[place].endAll(ok: ok, at: now)
  }

  /// Closes all open tasks, before an error or the result.
  package mutating func endAll(ok: Bool, at now: Duration) -> [DeviceTrace.Line] {
    traces.indices.flatMap { traces[$0].endAll(ok: ok, at: now) }
  }
}
