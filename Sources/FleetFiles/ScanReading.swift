#if Fleet
import OtaflashFleet
import Yams

/// `devices-scan:` of a campaign.
enum ScanReading {
  static let keys = ["name", "service", "rssi", "for", "board", "site", "tags", "key-file"]

  static func scan(in node: Node) throws(CampaignFileFault) -> DeviceScan {
    let fields = try YAMLFields(node, of: "a scan", known: keys)
    var scan = DeviceScan()
    scan.namePattern = try fields.text("name")
    scan.service = try fields.read("service", "a UUID: fe59, or all of its 36 characters") {
      DeviceScan.serviceUUID($0)
    }
    guard scan.namePattern != nil || scan.service != nil else {
      throw CampaignFileFault(
        at: node.place, "a scan needs a 'name' or a 'service': it takes whoever is near otherwise")
    }
    scan.rssiMinimum = try fields.read("rssi", "a strength in dBm, -127 to 20") {
      Int($0).flatMap { DeviceScan.strengths.contains($0) ? $0 : nil }
    }
    scan.duration = try fields.duration("for") ?? scan.duration
    guard scan.duration > .zero, scan.duration <= DeviceScan.longest else {
      throw CampaignFileFault(
        at: fields.place(of: "for"),
        "a scan takes more than no time, and at most \(DeviceScan.longest.components.seconds) s")
    }
    scan.board = try fields.text("board")
    scan.site = try fields.text("site")
    scan.keyFile = try fields.text("key-file")
    if let tags = fields["tags"] { scan.tags = Set(try tags.texts(of: "tags")) }
    return scan
  }
}
#endif
