#if Fleet
import OtaflashFirmware
import OtaflashFleet
import Yams

/// `requires:` and `min-battery:` of a campaign.
enum RequirementReading {
  static let batteryKeys = ["percent", "unknown"]

  static func requirements(in fields: YAMLFields) throws(CampaignFileFault) -> DeviceRequirements {
    var requirements = DeviceRequirements()
    requirements.version = try fields.read("requires", "three numbers: 1.2.0") {
      FirmwareVersion($0)
    }
    guard let node = fields["min-battery"] else { return requirements }
    guard case .mapping = node else {
      let percent = try fields.read("min-battery", "a share of at least 1%, such as 30%") {
        level($0)
      }
      requirements.battery = percent.map { DeviceRequirements.Battery(percent: $0) }
      return requirements
    }
    let battery = try YAMLFields(node, of: "min-battery", known: batteryKeys)
    guard
      let percent = try battery.read("percent", "a share of at least 1%, such as 30%", level)
    else { throw CampaignFileFault(at: battery.place, "min-battery has no 'percent'") }
    requirements.battery = DeviceRequirements.Battery(percent: percent)
    if let unknown = try battery.choice("unknown", DeviceRequirements.Battery.Unknown.self) {
      requirements.battery?.unknown = unknown
    }
    return requirements
  }

  private static func level(_ text: String) -> Int? {
    Int(percent: text).flatMap { $0 > 0 ? $0 : nil }
  }
}
#endif
