import OtaflashWire

/// The settings group (Zephyr, `settings_mgmt.c`), with the settings of a small application.
extension SMPServer {
  /// The error codes of the group (Zephyr, `settings_mgmt_ret_code_t`).
  enum SettingsError: Int, Sendable {
    case unknown = 1
    case nameTooLong = 2
    case notFound = 3
    case readNotSupported = 4
    case noSuchRoot = 5
    case writeNotSupported = 6

    /// The corresponding code of the first version.
    var version1: GeneralError {
      switch self {
      case .nameTooLong: .invalid
      case .notFound, .readNotSupported: .noEntry
      case .unknown, .noSuchRoot, .writeNotSupported: .unknown
      }
    }
  }

  /// CONFIG_MCUMGR_GRP_SETTINGS_NAME_LEN and …_VALUE_LEN.
  private static let nameMaximum = 32
  private static let valueMaximum = 64
  private static let root = "app/"
  private static let writeOnly = "app/secret"
  private static let readOnly = "app/serial"
  /// The values without saved settings.
  static let defaultSettings: [String: [UInt8]] = [
    "app/name": Array("sensor".utf8), "app/rate": [0xE8, 0x03, 0, 0], "app/enabled": [1],
    "app/serial": Array("SN-0001".utf8), "app/secret": [],
  ]

  static let loaderName = "fw_loader/adv_name"
  private static let loaderNameMaximum = 15

  mutating func settings(_ call: SMPCall.Settings) throws(SMPServerRefusal) -> Work {
    guard settings.hasSettings, !is2021, !isRecovery else { throw .general(.notSupported) }
    var operations: [FlashOperation] = []
    switch call {
    case .read(let request): return try read(request)
    case .write(let request): try write(request)
    case .delete(let request):
      try check(request.name)
      var saved = store.settings
      saved[request.name] = nil
      operations = try save(saved)
    case .commit: break
    case .load: currentSettings = Self.defaultSettings.merging(store.settings) { $1 }
    case .save:
      savedName = unsavedName ?? savedName
      operations = try save(currentSettings)
    }
    return Work(operations: operations, answer: .body(CBORMap()))
  }

  private mutating func save(
    _ values: [String: [UInt8]]
  ) throws(SMPServerRefusal) -> [FlashOperation] {
    do throws(FlashDataStore.Full) { return try store.store(values) } catch {
      throw .settings(.unknown)
    }
  }

  private func check(_ name: String) throws(SMPServerRefusal) {
    guard !name.isEmpty else { throw .general(.invalid) }
    guard name.utf8.count < Self.nameMaximum else { throw .settings(.nameTooLong) }
  }

  private func read(_ request: SMPSettings.Read) throws(SMPServerRefusal) -> Work {
    try check(request.name)
    guard request.name.hasPrefix(Self.root) else { throw .settings(.noSuchRoot) }
    guard let value = currentSettings[request.name] else { throw .settings(.notFound) }
    guard request.name != Self.writeOnly else { throw .settings(.readNotSupported) }
    let maximum = min(request.maximum ?? Self.valueMaximum, Self.valueMaximum)
    let isLimited = (request.maximum ?? 0) > Self.valueMaximum
    let response = SMPSettings.Read.Response(
      value: Array(value.prefix(maximum)), maximum: isLimited ? Self.valueMaximum : nil)
    return Work(answer: .body(response.body))
  }

  /// Changes a setting. The firmware loader's name has a buffer of 16 bytes; one of the vendor's
  /// two versions needs the last byte for a NUL (sdk-nrf-bm).
  private mutating func write(_ setting: SMPSettings.Write) throws(SMPServerRefusal) {
    if settings.mode == .firmwareLoader {
      guard setting.name == Self.loaderName else { throw .general(.noEntry) }
      guard setting.value.count <= Self.loaderNameMaximum,
        let name = String(validating: setting.value, as: UTF8.self)
      else { throw .general(.invalid) }
      unsavedName = name
      return
    }
    try check(setting.name)
    guard setting.name.hasPrefix(Self.root) else { throw .settings(.noSuchRoot) }
    guard let old = currentSettings[setting.name] else { throw .settings(.notFound) }
    guard setting.name != Self.readOnly else { throw .settings(.writeNotSupported) }
    // The handler of a number accepts only values of its size.
    let isNumber = setting.name == "app/rate" || setting.name == "app/enabled"
    guard setting.value.count <= Self.valueMaximum, !isNumber || setting.value.count == old.count
    else { throw .settings(.noSuchRoot) }
    currentSettings[setting.name] = setting.value
  }
}
