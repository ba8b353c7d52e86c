import OtaflashSimulation

extension Scenario {
  /// What kind of device it is, in the words of its profile: its name, and the settings by which
  /// the update takes another way.
  public var kind: String {
    let parts = profile.split(separator: "?", maxSplits: 1)
    let settings = parts.count > 1 ? parts[1].split(separator: "&") : []
    let ways = settings.filter { setting in
      [
        "entry=", "images=2", "mode=", "server=2021", "decompress=yes", "variant=", "banks=",
      ].contains { setting.hasPrefix($0) }
    }
    return ([parts.first.map(String.init) ?? "plain"] + ways.map(String.init))
      .joined(separator: " ")
  }

  /// Only a button that is held leads to the boot loader.
  var hasButton: Bool { profile.contains("entry=button&") || profile.hasSuffix("entry=button") }

  /// The device has one place for the image, over the one that runs.
  var overwritesWhatRuns: Bool {
    do throws(ScenarioFault) {
      switch try settings().device {
      case .otaReceiver: return false
      case .legacyBootLoader(let settings):
        return settings.variant != .infinitime && settings.banks == .single
      case .smpServer(let settings): return [.single, .firmwareLoader].contains(settings.mode)
      case .secureBootLoader(let settings): return settings.banks == .single
      }
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
