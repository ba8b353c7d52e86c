import OtaflashSimulation

extension Scenario {
  /// What kind of device it is, in the words of its profile: its name, and the settings by which
  /// the update takes another way.
  public var kind: String {
    let parts = profile.split(separator: "?", maxSplits: 1)
    let settings = parts.count > 1 ? parts[1].split(separator: "&") : []
    let known = SwarmKinds.all.flatMap { $0.ways }
    let ways = settings.filter { setting in known.contains { setting.hasPrefix($0) } }
    return ([parts.first.map(String.init) ?? "plain"] + ways.map(String.init))
      .joined(separator: " ")
  }

  /// Only a button that is held leads to the boot loader.
  var hasButton: Bool { profile.contains("entry=button&") || profile.hasSuffix("entry=button") }

  /// The device has one place for the image, over the one that runs.
  var overwritesWhatRuns: Bool {
    do throws(ScenarioFault) {
      return try settings().device.ofSwarm?.overwritesWhatRuns ?? false
    } catch {
      return false
    }
  }
}

extension ScenarioEnding {
  /// Sent, and seen running.
  public var isFlashed: Bool {
    if case .success(let result) = outcome { result.outcome == .flashed } else { false }
  }
}
