#if Fleet
import OtaflashConsole
import OtaflashFleet
import OtaflashFleetFiles

extension Campaign {
  /// Returns the options of the campaign, including defaults, as text for a reviewer. The list does
  /// not contain the devices, the images, `select` and `seed`.
  ///
  /// - Parameter now: determines the UTC offset that is printed for a zone without a name.
  func settings(now: WallClockTime) -> [RunSetting] {
    var settings = [RunSetting("window", window?.words(now) ?? "always open")]
    settings += siteWindows.sorted { $0.key < $1.key }.map {
      RunSetting("window at \($0.key)", $0.value.words(now))
    }
    settings += waves.map { RunSetting("wave \($0.name)", $0.ruleWords) }
    settings += [
      RunSetting("retries", retries.words),
      RunSetting(
        "parallel", parallel.map { Text.counted($0, "transfer") + " per adapter" } ?? "automatic"),
      RunSetting("transfer", flash.transferWords),
      RunSetting("overrides", flash.overrideWords),
      RunSetting(
        "signature", keyFile.map { "required, by \($0)" } ?? "not required"),
      RunSetting(
        "requires", requirements.version.map { "\($0) or later" } ?? "any version"),
      RunSetting("min-battery", requirements.battery?.words ?? "any level"),
      RunSetting("hooks", hooks.ruleWords),
    ]
    for point in HookPoint.allCases {
      guard let command = hooks[point] else { continue }
      settings.append(RunSetting("hook \(point.rawValue)", command.shown))
    }
    return settings
  }
}

extension TransferWindow {
  fileprivate func words(_ now: WallClockTime) -> String {
    let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    let days =
      days.count == Weekday.allCases.count
      ? "daily" : days.map(\.rawValue).sorted().map { names[$0] }.joined(separator: " ")
    var parts = ["\(days) \(Self.clock(opens)) to \(Self.clock(closes)) \(zone.label(at: now))"]
    if let notBefore { parts.append("not before \(notBefore.text)") }
    if let notAfter { parts.append("not after \(notAfter.text)") }
    parts.append(
      atEnd == .finish
        ? "transfers in progress at its end are completed"
        : "transfers in progress at its end are interrupted")
    return parts.joined(separator: ", ")
  }
}

extension RetryPolicy {
  fileprivate var words: String {
    [
      "\(linkAttempts) attempts after lost links",
      "quarantine after \(sameFailures) equal failures",
      "delays \(firstDelay.spelled) to \(longestDelay.spelled)",
      "jitter \(Int((jitter * 100).rounded()))%",
      "pause after \(infrastructureFailures) failures of this host",
    ].joined(separator: ", ")
  }
}

extension FlashChoices {
  fileprivate var transferWords: String {
    "mode \(writing.rawValue), patches \(delta.rawValue), ATT_MTU \(mtu), at most "
      + "\(attemptLimit.spelled) per attempt"
  }

  fileprivate var overrideWords: String {
    let all = [
      (allowDowngrade, "allow-downgrade"), (allowUnknown, "allow-unknown"),
      (allowOtherHardware, "allow-other-hardware"), (force, "force"),
    ]
    let set = all.filter(\.0).map(\.1)
    return set.isEmpty ? "none" : set.joined(separator: ", ")
  }
}

extension DeviceRequirements.Battery {
  fileprivate var words: String {
    "\(percent)%, a device without a level: \(unknown.rawValue)"
  }
}

extension CampaignHooks {
  fileprivate var ruleWords: String {
    guard !commands.isEmpty else { return "none" }
    return "at most \(timeLimit.spelled), on-failure \(onFailure.rawValue), "
      + "after-failure \(afterFailure.rawValue)"
  }
}

extension HookCommand {
  /// The command as a shell command line.
  fileprivate var shown: String {
    switch self {
    case .words(let words): ShellWords.join(words)
    case .shell(let text): ShellWords.join(["/bin/sh", "-c", text])
    }
  }
}

extension Wave {
  /// The rules of the wave, independent of its size.
  fileprivate var ruleWords: String {
    let stop =
      switch thresholds.stop {
      case .count(let count): "\(count)"
      case .percent(let percent): "\(percent)%"
      }
    let action = thresholds.stopAction == .pause ? "pauses" : "stops"
    var parts = [
      "\(action) at \(stop) failed", "continues at \(thresholds.successPercent)% success",
      "verdict needs \(thresholds.seenPercent)% with an outcome",
    ]
    if let overshoot = thresholds.overshoot { parts.append("overshoot \(overshoot)") }
    parts.append("soaks \(soak.spelled)")
    parts.append(needsApproval ? "then waits for approval" : "without approval")
    return parts.joined(separator: ", ")
  }
}

extension Duration {
  /// The duration in the notation of campaigns: `500ms`, `90s`, `10m`.
  fileprivate var spelled: String {
    let milliseconds = wholeMilliseconds
    let units: [(Int64, String)] = [
      (86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1000, "s"),
    ]
    guard milliseconds > 0 else { return "0s" }
    for (scale, unit) in units where milliseconds.isMultiple(of: scale) {
      return "\(milliseconds / scale)\(unit)"
    }
    return "\(milliseconds)ms"
  }
}
#endif
