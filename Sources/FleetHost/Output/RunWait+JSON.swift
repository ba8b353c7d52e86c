#if Fleet
import OtaflashConsole
import OtaflashFleet
import OtaflashFleetReport

extension RunWait {
  /// Returns the members for the wait.
  ///
  /// - Parameters:
  ///   - run: the run that waits.
  ///   - now: the present time, for the remaining time.
  package func members(in run: FleetRun, at now: WallClockTime) -> [JSONValue.Member] {
    var (site, wave, hook): (String?, Int?, String?) = (nil, nil, nil)
    switch reason {
    case .window(let place, _): site = place
    case .soak(let number), .approval(let number): wave = number + 1
    case .hook(let point): hook = point.rawValue
    case .retry, .paused, .noAdapter, .noFreePlace: break
    }
    return JSONValue.fields([
      "reason": .string(reason.name), "until": until.map { .string($0.text) },
      "devices": .integer(devices), "site": .text(site), "wave": .integer(wave),
      "hook": .text(hook), "words": .string(words(in: run, at: now)),
    ])
  }
}
#endif
