#if Fleet
import OtaflashFirmware
import OtaflashFleet
import Yams

/// `devices:` of a campaign: a list of ids, or of devices with what is known of them.
enum DeviceListReading {
  struct Listed {
    let device: FleetDevice
    let place: FilePlace
  }

  static let keys = ["id", "name", "board", "site", "tags", "key-file", "version"]

  /// A whole neighbourhood of simulated boards begins so; one entry of a list may be one.
  static let simulatedFleet = "sim-fleet:"

  struct Simulated {
    let text: String
    let place: FilePlace
  }

  static func devices(
    in fields: YAMLFields
  ) throws(CampaignFileFault) -> (listed: [Listed], simulated: Simulated?) {
    guard let node = fields["devices"] else { return ([], nil) }
    var devices: [Listed] = []
    var simulated: Simulated?
    for element in try node.list(of: "devices") {
      let listed = Listed(device: try device(element), place: element.place)
      if listed.device.id.hasPrefix(simulatedFleet) {
        guard case .scalar = element, simulated == nil else {
          throw CampaignFileFault(
            at: element.place, "a campaign has one simulated fleet, written as a text")
        }
        simulated = Simulated(text: listed.device.id, place: listed.place)
      } else {
        devices.append(listed)
      }
      guard devices.count <= Campaign.devicesMaximum else {
        throw CampaignFileFault(
          at: element.place, "there are more than \(Campaign.devicesMaximum) devices")
      }
    }
    return (devices, simulated)
  }

  private static func device(_ node: Node) throws(CampaignFileFault) -> FleetDevice {
    if case .scalar = node { return FleetDevice(id: try node.text(of: "a device")) }
    let fields = try YAMLFields(node, of: "a device", known: keys)
    guard let id = try fields.text("id") else {
      throw CampaignFileFault(at: node.place, "the device has no 'id'")
    }
    var device = FleetDevice(id: id)
    device.name = try fields.text("name")
    device.board = try fields.text("board")
    device.site = try fields.text("site")
    device.keyFile = try fields.text("key-file")
    if let tags = fields["tags"] { device.tags = Set(try tags.texts(of: "tags")) }
    device.version = try fields.read("version", "three numbers: 1.2.0") { FirmwareVersion($0) }
    return device
  }
}
#endif
