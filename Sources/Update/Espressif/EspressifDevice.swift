import OtaflashGATT

/// One implementation of Espressif's OTA service, with the properties that distinguish it.
struct EspressifDevice: Equatable, Sendable {
  /// The packet that makes a device in a transfer report its expected sector.
  enum Survey: Sendable {
    /// A packet of an unexpected sector, without data.
    case packet
    /// The last packet of an unexpected sector.
    case lastPacket
    /// A packet that the device ignores and does not answer; the write response shows that the
    /// device has handled all earlier packets.
    case barrier
  }

  /// The continuation of a transfer after a lost link.
  enum Resumption: Sendable {
    /// START starts a new transfer.
    case none
    /// Without START, the device continues. START would start a new transfer, but the writer of the
    /// device would append the new bytes to the old bytes.
    case withoutStart
    /// The device rejects START, and continues without it.
    case afterRejectedStart
    /// The device accepts START again, and continues.
    case afterStart
    /// Only a restart of the device ends the transfer.
    case onlyAfterRestart
  }

  /// The time of STOP.
  enum Stop: Sendable {
    /// Immediately after the last answer, because the device finishes the update at STOP.
    case immediately
    /// If the device has not restarted after two seconds.
    case ifConnected
    /// Not sent, because it can interrupt the writer of the device.
    case never
  }

  let name: String
  let survey: Survey
  let resumption: Resumption
  let stop: Stop
  /// Whether an answer with the status "wrong sector" states the expected sector.
  var statesWanted = true
  /// Whether the device keeps a partly received sector, so that the host must clear this part
  /// before it sends the sector again.
  var keepsPartialSector = false

  static let nimble = EspressifDevice(
    name: "ble_ota (NimBLE)", survey: .packet, resumption: .withoutStart, stop: .never)
  static let bluedroid = EspressifDevice(
    name: "ble_ota (Bluedroid)", survey: .packet, resumption: .onlyAfterRestart, stop: .never)
  /// `nimble` or `bluedroid`, which have the same attributes.
  static let component = EspressifDevice(
    name: "ble_ota", survey: .packet, resumption: .onlyAfterRestart, stop: .never)
  static let raw = EspressifDevice(
    name: "ble_ota_raw", survey: .packet, resumption: .afterRejectedStart, stop: .ifConnected,
    keepsPartialSector: true)
  static let nimbleOTA = EspressifDevice(
    name: "NimBLEOta", survey: .lastPacket, resumption: .afterStart, stop: .ifConnected)
  static let bleOTA = EspressifDevice(
    name: "BLEOTA", survey: .barrier, resumption: .none, stop: .immediately, statesWanted: false)
  /// A device with other properties: the host uses only what all implementations have.
  static let other = EspressifDevice(
    name: "another implementation", survey: .barrier, resumption: .none, stop: .ifConnected,
    statesWanted: false)

  /// Identifies the implementation by the properties of the characteristic for firmware.
  init(_ properties: CharacteristicProperties, hasProgress: Bool) {
    let kinds = properties.intersection([.write, .writeWithoutResponse, .notify, .indicate])
    self =
      switch (kinds, hasProgress) {
      case ([.write, .indicate], true): .component
      case ([.write, .writeWithoutResponse, .notify, .indicate], true): .raw
      case ([.write, .writeWithoutResponse, .notify, .indicate], false): .bleOTA
      case ([.write, .writeWithoutResponse, .indicate], false): .nimbleOTA
      default: .other
      }
  }

  private init(
    name: String, survey: Survey, resumption: Resumption, stop: Stop, statesWanted: Bool = true,
    keepsPartialSector: Bool = false
  ) {
    (self.name, self.survey, self.resumption, self.stop) = (name, survey, resumption, stop)
    (self.statesWanted, self.keepsPartialSector) = (statesWanted, keepsPartialSector)
  }

  /// Distinguishes the two implementations with the same attributes by the answer to sector 0:
  /// only one of them states the next sector in it.
  func confirmed(by answer: EspressifSectorAnswer) -> EspressifDevice {
    guard self == .component, answer.sector == 0, answer.status == .accepted else { return self }
    return answer.wanted == 0 ? .nimble : .bluedroid
  }
}
