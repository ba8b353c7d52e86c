#if Fleet
import OtaflashFirmware
import OtaflashFleet
import Yams

/// The reader of `requires:` and `min-battery:` in a campaign.
enum RequirementReading {
  static let batteryKeys = ["percent", "unknown"]

  static func requirements(in fields: YAMLFields) -> DeviceRequirements {
    var requirements = DeviceRequirements()
    requirements.version = fields.read("requires", "three numbers: 1.2.0") {
      FirmwareVersion($0)
    }
    guard let node = fields["min-battery"] else { return requirements }
    guard case .mapping = node else {
      let percent = fields.read("min-battery", "a share of at least 1%, such as 30%") {
        level($0)
      }
      requirements.battery = percent.map { DeviceRequirements.Battery(percent: $0) }
      return requirements
    }
    let battery = YAMLFields(node, of: "min-battery", known: batteryKeys, fields.mistakes)
    if battery.isComplete, battery["percent"] == nil {
      battery.mistakes.note(at: battery.place, "min-battery has no key 'percent'")
    }
    let unknown = battery.choice("unknown", DeviceRequirements.Battery.Unknown.self)
    guard
      let percent = battery.read("percent", "a share of at least 1%, such as 30%", level)
    else { return requirements }
    requirements.battery = DeviceRequirements.Battery(percent: percent)
    if let unknown { requirements.battery?.unknown = unknown }
    return requirements
  }

  private static func level(_ text: String) -> Int? {
    Int(percent: text).flatMap { $0 > 0 ? $0 : nil }
  }
}
#endif
