import OtaflashSimulation
import OtaflashUpdate

extension Scenario {
  /// The kind of the device: the name of its profile, and the settings that select a variant of the
  /// update.
  public var kind: String {
    let parts = profile.split(separator: "?", maxSplits: 1)
    let settings = parts.count > 1 ? parts[1].split(separator: "&") : []
    let known = SwarmKinds.all.flatMap { $0.ways }
    let ways = settings.filter { setting in known.contains { setting.hasPrefix($0) } }
    return
      ([parts.first.map(String.init) ?? "plain"] + ways.map(String.init)
      + (hasPatches ? ["patches"] : [])).joined(separator: " ")
  }

  /// Whether the image is related to the running image, so that patches are possible.
  var hasPatches: Bool { profile.contains("base=") }

  /// Whether the bootloader starts only while a button is held.
  var hasButton: Bool { profile.contains("entry=button&") || profile.hasSuffix("entry=button") }

  /// Whether the device writes a new image over the running image.
  var overwritesWhatRuns: Bool {
    do throws(ScenarioFault) {
      return try settings().device.ofSwarm?.overwritesWhatRuns ?? false
    } catch {
      return false
    }
  }
}

extension ScenarioEnding {
  /// The delivery, and the reason for a complete image; `nil` if no patch was considered.
  public var delivery: DeliveryReport? {
    events.reversed().lazy.compactMap { event in
      if case .delivery(let report) = event { report } else { nil }
    }.first
  }

  /// The name of the delivery, with the reason if it was not a patch; `nil` if no patch was
  /// considered.
  public var deliveryName: String? {
    guard let delivery else { return nil }
    let content =
      switch delivery.content {
      case .image: "image"
      case .compressed: "compressed"
      case .difference: "patch"
      }
    return content + (delivery.obstacle.map { " (\($0.code))" } ?? "")
  }

  /// Whether the image was sent and verified as running.
  public var isFlashed: Bool {
    if case .success(let result) = outcome { result.outcome == .flashed } else { false }
  }
}
