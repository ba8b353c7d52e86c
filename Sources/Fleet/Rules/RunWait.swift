/// A reason why a run starts no attempts, with the end of the wait.
package struct RunWait: Hashable, Sendable {
  package enum Reason: Hashable, Sendable {
    /// The transfer window of the devices is closed; `site` is the site of this window, `nil` = the
    /// window of the campaign.
    case window(site: String?, zone: ZoneOffsets)
    /// The run waits for the verdict on the wave.
    case soak(wave: Int)
    /// The run waits for the next attempt on one of the devices.
    case retry
    case approval(wave: Int)
    /// The run is paused until an operator resumes it.
    case paused
    case noAdapter
    case hook(HookPoint)
    /// The devices are published, but no worker has claimed any of them: no adapter is free, or no
    /// worker is running.
    case noFreePlace
  }

  package let reason: Reason
  /// The end of the wait; `nil` = unknown, or, for a window, never.
  package let until: WallClockTime?
  /// The number of waiting devices.
  package let devices: Int

  package init(_ reason: Reason, until: WallClockTime? = nil, devices: Int) {
    self.reason = reason
    self.until = until
    self.devices = devices
  }
}

extension FleetRun {
  /// Returns the waits of the run. While jobs are open, the result contains only the closed
  /// windows, which keep other devices waiting, and `noFreePlace` if no job is claimed.
  ///
  /// - Parameters:
  ///   - wall: the wall-clock time, for windows; `nil` = the same as `now`.
  ///   - windows: the transfer windows; `nil` = the windows that were recorded when the run
  ///     started.
  package func waits(
    at now: WallClockTime, wall: WallClockTime? = nil, windows: TransferWindows? = nil
  ) -> [RunWait] {
    let now = time(now)
    switch control {
    case .ended, .cancelling: return []
    case .paused(.noAdapter): return [RunWait(.noAdapter, devices: openCount)]
    case .paused: return [RunWait(.paused, devices: unsettledCount)]
    case .running: break
    }
    if let (wave, point) = runningHook {
      return [RunWait(.hook(point), devices: waves[wave].devices.count)]
    }
    guard let current = currentWave else { return [] }
    switch waves[current].phase {
    case .soaking(let until):
      return [RunWait(.soak(wave: current), until: until, devices: unsettledCount)]
    case .awaitingApproval: return [RunWait(.approval(wave: current), devices: unsettledCount)]
    case .planned, .judged, .passed: return []
    case .open: return waitsOfDevices(now, wall ?? now, windows ?? beginning?.windows)
    }
  }

  private var unsettledCount: Int {
    devices.count - waves.reduce(0) { $0 + $1.tally.settled }
  }

  private func waitsOfDevices(
    _ now: WallClockTime, _ wall: WallClockTime, _ windows: TransferWindows?
  ) -> [RunWait] {
    if openCount > 0 {
      let place = claimedCount > 0 ? [] : [RunWait(.noFreePlace, devices: openCount)]
      // Most runs have no window, but thousands of devices.
      return windows.map { place + count(now, wall, $0).windows } ?? place
    }
    let (closed, retry, isReady) = count(now, wall, windows ?? TransferWindows())
    return closed + (isReady ? [] : [retry].compactMap(\.self))
  }

  /// - Returns: the closed windows (the soonest first), the next attempt, and whether a device may
  ///   start now.
  private func count(
    _ now: WallClockTime, _ wall: WallClockTime, _ windows: TransferWindows
  ) -> (windows: [RunWait], retry: RunWait?, isReady: Bool) {
    var closed: [String?: (until: WallClockTime?, devices: Int)] = [:]
    var standings: [String?: TransferWindow.Standing] = [:]
    var (next, later, isReady): (WallClockTime?, Int, Bool) = (nil, 0, false)
    for device in devices where device.phase == .waiting && device.isQueued {
      let site = windows.decidingSite(for: device.device.site)
      let standing = standings[site] ?? windows.window(at: site)?.standing(at: wall)
      standings[site] = standing
      switch standing {
      case .closed(let until)?: closed[site, default: (until, 0)].devices += 1
      case .over?: closed[site, default: (nil, 0)].devices += 1
      case .open?, nil:
        isReady = isReady || device.notBefore <= now
        later += 1
        next = min(next ?? device.notBefore, device.notBefore)
      }
    }
    let waits = closed.compactMap { site, wait in
      windows.window(at: site).map {
        RunWait(.window(site: site, zone: $0.zone), until: wait.until, devices: wait.devices)
      }
    }.sorted { left, right in
      (left.until?.milliseconds ?? .max, left.siteName)
        < (right.until?.milliseconds ?? .max, right.siteName)
    }
    return (waits, next.map { RunWait(.retry, until: $0, devices: later) }, isReady)
  }
}

extension RunWait {
  /// The sort key of windows that open at the same time.
  fileprivate var siteName: String {
    if case .window(let site?, _) = reason { site } else { "" }
  }
}
