import OtaflashFleet
import OtaflashFleetFiles

/// Any text is a campaign that can be planned, or is rejected with the position of the error.
func fuzzCampaign(_ bytes: [UInt8]) {
  let now = WallClockTime(milliseconds: 1_795_425_600_000)
  do throws(CampaignFileFault) {
    let file = try CampaignFile(bytes: bytes, now: now)
    let plan = try file.plan(now: now)
    let planned = plan.waves.flatMap(\.devices).map(\.id)
    precondition(Set(planned).count == planned.count, "a device is in two waves")
    precondition(planned.count == plan.deviceCount && !planned.isEmpty)
    precondition(planned.count + plan.leftOut.count == file.campaign.devices.count)
    precondition(plan.waves.allSatisfy { !$0.devices.isEmpty })
    for wave in plan.waves {
      for device in wave.devices { precondition(file.campaign.image(for: device) != nil) }
    }
    if let window = plan.campaign.window {
      precondition(window.standing(at: now) != .over)
      for day in 0..<8 { _ = window.standing(at: now.advanced(by: .seconds(86_400 * day))) }
    }
  } catch {
    precondition(!error.description.isEmpty)
    precondition(error.place.line >= 1 && error.place.column >= 1)
    precondition(error.place.line <= bytes.count + 2)
  }
}
