import OtaflashATT
import OtaflashFirmware

/// The keys of a profile, except faults: each key changes a setting.
package enum ProfileKey: String, CaseIterable, Sendable {
  case seed, interval, phy, ll, loss, errors, mtu, erase, write, buffers, queue, ring, slot, version
  case hardware, key, boot, trial, response, drop, security, battery, log, address

  /// The description of the allowed values.
  package var allowedValues: String {
    switch self {
    case .seed: return "a decimal number"
    case .interval: return "7.5ms to 4s in steps of 1.25 ms"
    case .phy: return "1M, 2M, S2, S8 or coded"
    case .ll: return "27 to 251 bytes"
    case .loss: return "a share such as 1%"
    case .errors: return "consecutive CRC errors that end a connection event, 1 or more"
    case .mtu: return "23 to 517 bytes"
    case .erase, .write: return "a time such as 85ms, or 0"
    case .buffers: return "a number of packets, 1 or more"
    case .queue: return "bytes that the host can queue for the air, such as 12K"
    case .ring: return "the device's receive buffer, 2K to 60K, a multiple of 1K"
    case .slot: return "16K to 8M, a multiple of 4K"
    case .version: return "three numbers such as 1.2.0"
    case .hardware: return "a number such as 0x0000A001"
    case .key: return "1 to 64 bytes in hexadecimal"
    case .boot: return "a time such as 300ms"
    case .trial: return "yes or no"
    case .response: return "same or next"
    case .drop: return "timeout or close"
    case .security: return "none, encrypted or authenticated"
    case .battery: return "a level in percent, 0 to 100"
    case .log: return "the interval of log lines over the Nordic UART Service, such as 1s"
    case .address: return "static, or random for a new address at each start"
    }
  }

  /// Changes the setting; returns `false` if the value is not allowed.
  func apply(_ text: String, to settings: inout BoardSettings) -> Bool {
    switch self {
    case .seed: return set(&settings.seed, UInt64(text))
    case .interval:
      return set(&settings.radio.interval, Quantity.duration(text).flatMap(Self.interval))
    case .phy: return set(&settings.radio.phy, PHY(caseInsensitive: text))
    case .ll: return set(&settings.radio.payloadMaximum, Quantity.count(text), in: 27...251)
    case .loss: return set(&settings.radio.packetErrorRate, Quantity.share(text))
    case .errors: return set(&settings.radio.errorsClosingEvent, Quantity.count(text))
    case .mtu: return set(&settings.mtu, Quantity.count(text), in: 23...517)
    case .erase: return set(&settings.eraseTime, Quantity.duration(text))
    case .write: return set(&settings.writeTimePer4KiB, Quantity.duration(text))
    case .buffers: return set(&settings.radio.controllerBuffers, Quantity.count(text))
    case .queue: return set(&settings.radio.hostQueueBytes, Quantity.size(text), in: 1...1_048_576)
    case .ring:
      let size = Quantity.size(text).flatMap { $0.isMultiple(of: 1024) ? $0 : nil }
      return set(&settings.ringSize, size, in: 2048...61_440)
    case .slot:
      let size = Quantity.size(text).flatMap { $0.isMultiple(of: 4096) ? $0 : nil }
      return set(&settings.slotSize, size, in: 16_384...8_388_608)
    case .version: return set(&settings.version, FirmwareVersion(text))
    case .hardware: return set(&settings.hardware, HardwareID(text))
    case .key: return set(&settings.key, Quantity.hex(text).flatMap { $0.count <= 64 ? $0 : nil })
    case .boot: return set(&settings.bootTime, Quantity.duration(text))
    case .trial: return set(&settings.startsOnTrial, ["yes": true, "no": false][text])
    case .response:
      return set(&settings.radio.responseEvent, RadioModel.ResponseEvent(rawValue: text))
    case .drop: return set(&settings.linkDrop, BoardSettings.LinkDrop(rawValue: text))
    case .security: return set(&settings.security, BoardSettings.Security(rawValue: text))
    case .battery:
      let level = text == "0" ? 0 : Quantity.count(text)
      return set(&settings.batteryLevel, level.flatMap { $0 <= 100 ? $0 : nil })
    case .log:
      let interval = Quantity.duration(text).flatMap { $0 > .zero ? $0 : nil }
      return set(&settings.logInterval, interval)
    case .address: return set(&settings.addressing, BoardSettings.Addressing(rawValue: text))
    }
  }

  private func set<Value>(_ field: inout Value, _ value: Value?) -> Bool {
    guard let value else { return false }
    field = value
    return true
  }

  private func set<Value>(_ field: inout Value?, _ value: Value?) -> Bool {
    guard let value else { return false }
    field = value
    return true
  }

  private func set(_ field: inout Int, _ value: Int?, in range: ClosedRange<Int>) -> Bool {
    guard let value, range.contains(value) else { return false }
    field = value
    return true
  }

  private static func interval(_ duration: Duration) -> ConnectionInterval? {
    let (seconds, attoseconds) = duration.components
    return ConnectionInterval(
      microseconds: Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000))
  }
}
