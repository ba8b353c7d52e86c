import OtaflashFirmware

/// The properties that distinguish devices with legacy DFU; each value describes one kind of
/// device.
struct LegacyDFUDevice: Equatable, Sendable {
  let name: String
  /// The source of these properties.
  let source: String
  /// The manufacturer in Device Information that identifies the device; `nil` for all other
  /// devices.
  var manufacturer: String?
  /// The maximum packet size in bytes that a caller may request; `nil` = the size that the ATT_MTU
  /// permits.
  var packetSizeMaximum: Int?
  /// The maximum size of an image in bytes, if known in advance.
  var imageSizeMaximum: Int?
  /// Whether the application itself receives the image, without a change of address. A bootloader
  /// without this service then starts the image.
  var updatesInApplication = false
  /// The time after the response to START in which the host sends no image packets, because the
  /// device erases and writes the page of its settings, and packets would only fill its buffers. An
  /// nRF52 needs at most 85 ms with an idle radio, and longer with a busy radio.
  var settingsTime: Duration
  /// Whether the device reports the number of received bytes on request.
  var answersReports: Bool
  /// The action by which the user prevents a revert at the next restart, as a complete sentence;
  /// `nil` if no action is needed.
  var validation: String?
  /// The known fault of the bootloader; `nil` if no fault is known.
  var knownBootloader: KnownBootloader?

  static let infiniTime = LegacyDFUDevice(
    name: "InfiniTime", source: "InfiniTime, DfuService.cpp and doc/bootloader/README.md",
    manufacturer: "PINE64", packetSizeMaximum: 20, imageSizeMaximum: 475_136,
    updatesInApplication: true, settingsTime: .zero, answersReports: false,
    validation: "On the watch, open Settings, then Firmware, and tap Validate.")

  static let bootloader = LegacyDFUDevice(
    name: "bootloader", source: "nRF5 SDK 11, DFU over BLE profile")

  /// The known devices.
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
    knownBootloader = identity.firmwareRevision.flatMap(KnownBootloader.named)
  }

  /// The index in `LegacyDFUPace.ladder` of the pace with which the first transfer starts.
  var firstPace: Int {
    if case .paceStep(let step) = knownBootloader?.consequence { step } else { 0 }
  }

  /// Returns the packet size in bytes, a multiple of 4.
  ///
  /// - Parameter wanted: the caller's packet size; `nil` = the size that every device accepts.
  func packetSize(mtu: Int, wanted: Int?) -> Int {
    let most = min(mtu - 3, packetSizeMaximum ?? .max)
    // A bootloader writes its flash in words of 4 bytes.
    return max(4, min(wanted ?? LegacyDFU.packetSize, most) / 4 * 4)
  }
}
