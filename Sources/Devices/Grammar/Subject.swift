/// The DEVICE and the IMAGE of a command, as specified on the command line.
package struct Subject: Equatable, Sendable {
  package var device: String?
  package var image: String?
  /// The command that shows the part of the device that this command changes.
  package var inspection = ["info"]

  package init(device: String? = nil, image: String? = nil, inspection: [String] = ["info"]) {
    self.device = device
    self.image = image
    self.inspection = inspection
  }

  /// Returns the subject of a command that changes slots.
  package static func slots(of device: String) -> Subject {
    Subject(device: device, inspection: ["slots", "list"])
  }
}
