import OtaflashFleet
import OtaflashFleetFiles

/// Any text is a table of devices, or is rejected with the position of the error.
func fuzzDeviceTable(_ bytes: [UInt8]) {
  do throws(CampaignFileFault) {
    let table = try DeviceTable(path: "devices.csv", bytes: bytes)
    precondition(table.rows.count <= Campaign.devicesMaximum)
    // Each row is on a line of at least two bytes.
    precondition(table.rows.count * 2 <= bytes.count)
    for row in table.rows {
      precondition(!row.device.id.isEmpty && row.device.name?.isEmpty != true)
      precondition(row.place.line > 1 && row.place.line <= bytes.count + 1)
    }
    // A decoded table forms a campaign, or is rejected completely.
    let devices = table.rows.map(\.device)
    let campaign = Campaign(name: "c", devices: devices, images: [nil: "app.bin"])
    do throws(CampaignFault) {
      let plan = try CampaignPlan(campaign, now: WallClockTime(milliseconds: 0))
      precondition(plan.deviceCount == devices.count)
    } catch {
      precondition(!error.description.isEmpty)
    }
  } catch {
    precondition(!error.description.isEmpty)
    precondition(error.place.line >= 1 && error.place.line <= bytes.count + 2)
  }
}
