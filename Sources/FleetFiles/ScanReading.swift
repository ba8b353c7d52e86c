#if Fleet
import OtaflashFleet

/// The reader of `devices-scan:` in a campaign.
enum ScanReading {
  static let keys = ["name", "service", "rssi", "for", "board", "site", "tags", "key-file"]

  static func scan(in campaign: YAMLFields) -> DeviceScan? {
    guard let fields = campaign.fields("devices-scan", of: "a scan", known: keys) else {
      return nil
    }
    var scan = DeviceScan()
    scan.namePattern = fields.text("name")
    scan.service = fields.read("service", "a UUID, such as fe59 or one of 36 characters") {
      DeviceScan.serviceUUID($0)
    }
    if fields.isComplete, fields["name"] == nil, fields["service"] == nil {
      fields.mistakes.note(
        at: fields.place,
        "a scan requires 'name' or 'service'; otherwise it accepts all devices in range")
    }
    scan.rssiMinimum = fields.read("rssi", "an RSSI in dBm, -127 to 20") {
      Int($0).flatMap { DeviceScan.strengths.contains($0) ? $0 : nil }
    }
    scan.duration = fields.duration("for") ?? scan.duration
    if scan.duration <= .zero || scan.duration > DeviceScan.longest {
      fields.mistakes.note(
        at: fields.place(of: "for"),
        "the scan time must be above 0 and at most \(DeviceScan.longest.components.seconds) s")
    }
    scan.board = fields.text("board")
    scan.site = fields.text("site")
    scan.keyFile = fields.text("key-file")
    scan.tags = fields.tags()
    return scan
  }
}
#endif
