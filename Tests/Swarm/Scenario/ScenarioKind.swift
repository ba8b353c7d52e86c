import OtaflashSimulation
import OtaflashUpdate

extension Scenario {
  /// What kind of device it is, in the words of its profile: its name, and the settings by which
  /// the update takes another way.
  public var kind: String {
    let parts = profile.split(separator: "?", maxSplits: 1)
    let settings = parts.count > 1 ? parts[1].split(separator: "&") : []
    let known = SwarmKinds.all.flatMap { $0.ways }
    let ways = settings.filter { setting in known.contains { setting.hasPrefix($0) } }
    return
      ([parts.first.map(String.init) ?? "plain"] + ways.map(String.init)
      + (hasPatches ? ["patches"] : [])).joined(separator: " ")
  }

  /// What is sent has something to do with what runs.
  var hasPatches: Bool { profile.contains("base=") }

  /// Only a button that is held leads to the bootloader.
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
  /// What was sent instead of the image, or why it was the image; `nil` where nobody asked.
  public var delivery: DeliveryReport? {
    events.reversed().lazy.compactMap { event in
      if case .delivery(let report) = event { report } else { nil }
    }.first
  }

  /// What was sent, and why it was no patch; `nil` where nobody asked.
  public var deliveryName: String? {
    guard let delivery else { return nil }
    let content =
      switch delivery.content {
      case .image: "image"
      case .compressed: "compressed"
      case .patch: "patch"
      }
    return content + (delivery.obstacle.map { " (\($0.code))" } ?? "")
  }

  /// Sent, and seen running.
  public var isFlashed: Bool {
    if case .success(let result) = outcome { result.outcome == .flashed } else { false }
  }
}
