#if Fleet
import OtaflashFirmware
import OtaflashFleet
import Yams

/// The reader of `devices:` in a campaign: a list of ids, or of devices with their properties.
enum DeviceListReading {
  struct Listed {
    let device: FleetDevice
    let place: FilePlace
  }

  static let keys = ["id", "name", "board", "site", "tags", "key-file", "version"]

  /// The prefix of a simulated fleet, of which a list may contain one.
  static let simulatedFleet = "sim-fleet:"

  struct Simulated {
    let text: String
    let place: FilePlace
  }

  static func devices(
    in fields: YAMLFields
  ) -> (listed: [Listed], simulated: Simulated?) {
    var devices: [Listed] = []
    var simulated: Simulated?
    for element in fields.list("devices") {
      guard let device = device(element, fields.mistakes) else { continue }
      let listed = Listed(device: device, place: element.place)
      if listed.device.id.hasPrefix(simulatedFleet) {
        guard case .scalar = element, simulated == nil else {
          fields.mistakes.note(
            at: element.place, "a campaign supports only one simulated fleet, written as a string")
          continue
        }
        simulated = Simulated(text: listed.device.id, place: listed.place)
      } else {
        devices.append(listed)
      }
      guard devices.count <= Campaign.devicesMaximum else {
        fields.mistakes.note(
          at: element.place, "there are more than \(Campaign.devicesMaximum) devices")
        break
      }
    }
    return (devices, simulated)
  }

  private static func device(_ node: Node, _ mistakes: MistakeList) -> FleetDevice? {
    if case .scalar = node {
      return mistakes.attempt { () throws(CampaignFileFault) in
        FleetDevice(id: try node.text(of: "a device"))
      }
    }
    let fields = YAMLFields(node, of: "a device", known: keys, mistakes)
    if fields.isComplete, fields["id"] == nil {
      mistakes.note(at: node.place, "the device has no key 'id'")
    }
    guard let id = fields.text("id") else { return nil }
    var device = FleetDevice(id: id)
    device.name = fields.text("name")
    device.board = fields.text("board")
    device.site = fields.text("site")
    device.keyFile = fields.text("key-file")
    device.tags = fields.tags()
    device.version = fields.read("version", "three numbers: 1.2.0") { FirmwareVersion($0) }
    return device
  }
}
#endif
