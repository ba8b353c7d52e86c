import OtaflashFirmware

/// What differs between the devices that speak legacy DFU: a row each, as data.
struct LegacyDFUDevice: Equatable, Sendable {
  let name: String
  /// Where the row's facts are from.
  let source: String
  /// The manufacturer in Device Information by which the device is known; `nil` for the rest.
  var manufacturer: String?
  /// Bytes of a packet at most; `nil` = as many as an ATT_MTU carries, for who asks for more than
  /// every device takes.
  var packetSizeMaximum: Int?
  /// Bytes of an image at most, where that is known beforehand.
  var imageSizeMaximum: Int?
  /// The application itself takes the image, at its own address, and a bootloader that knows
  /// nothing of this service starts it.
  var updatesInApplication = false
  /// After it has answered START it erases and writes the page of its settings, and until that is
  /// over packets only fill its buffers: 85 ms at most on an nRF52, longer while its radio is busy.
  var settingsTime: Duration
  /// It says what it has received when it is asked.
  var answersReports: Bool
  /// What its user must do so that a new image is not taken back at the next restart.
  var validation: String?

  static let infiniTime = LegacyDFUDevice(
    name: "InfiniTime", source: "InfiniTime, DfuService.cpp and doc/bootloader/README.md",
    manufacturer: "PINE64", packetSizeMaximum: 20, imageSizeMaximum: 475_136,
    updatesInApplication: true, settingsTime: .zero, answersReports: false,
    validation: "On the watch, open Settings, then Firmware, and tap Validate.")

  static let bootloader = LegacyDFUDevice(
    name: "bootloader", source: "nRF5 SDK 11, DFU over BLE profile")

  /// The devices that are told apart.
  static let known = [infiniTime]

  init(
    name: String, source: String, manufacturer: String? = nil, packetSizeMaximum: Int? = nil,
    imageSizeMaximum: Int? = nil, updatesInApplication: Bool = false,
    settingsTime: Duration = .milliseconds(150), answersReports: Bool = true,
    validation: String? = nil
  ) {
    self.name = name
    self.source = source
    self.manufacturer = manufacturer
    self.packetSizeMaximum = packetSizeMaximum
    self.imageSizeMaximum = imageSizeMaximum
    self.updatesInApplication = updatesInApplication
    self.settingsTime = settingsTime
    self.answersReports = answersReports
    self.validation = validation
  }

  init(_ identity: ApplicationIdentity) {
    self = Self.known.first { $0.manufacturer == identity.manufacturer } ?? .bootloader
  }

  /// Bytes of a packet.
  ///
  /// - Parameter wanted: what the caller asks for; `nil` = what every device takes.
  func packetSize(mtu: Int, wanted: Int?) -> Int {
    let most = min(mtu - 3, packetSizeMaximum ?? .max)
    // A bootloader writes its flash in words.
    return max(4, min(wanted ?? LegacyDFU.packetSize, most) / 4 * 4)
  }
}
