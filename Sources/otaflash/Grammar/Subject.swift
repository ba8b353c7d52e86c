/// The DEVICE and the IMAGE that a command is about, as they were written.
struct Subject: Equatable, Sendable {
  var device: String?
  var image: String?
  /// The command that shows the part of the device which this one changes.
  var inspection = ["info"]

  /// A command that changes slots.
  static func slots(of device: String) -> Subject {
    Subject(device: device, inspection: ["slots", "list"])
  }
}
