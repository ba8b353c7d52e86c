import OtaflashSimulation

/// Goals of Espressif's OTA service, in virtual time.
enum EspressifGoals {
  private static let size = 1024 * 1024
  private static let link = "phy=2M&interval=15ms&mtu=247"
  /// The number of packets of a sector: 4096 bytes and the CRC, at most 241 bytes in each packet.
  private static let packetsPerSector = 18

  static func all() throws -> [Goal] { [try window(), try requests()] }

  private static func window() throws -> Goal {
    let raw = try Upload(onto: "sim:esp-raw?\(link)&slot=2M", size: size)
    let others = try ["esp-nimbleota", "esp-bleota"].map {
      try Upload(onto: "sim:\($0)?\(link)", size: size / 4)
    }
    let share = raw.share(flash: raw.profile.writeTimePer4KiB)
    return Goal(
      what: "ble_ota_raw with a window of 3 sectors, 2M, 15 ms, MTU 247, 85 ms to erase a page "
        + "before the transfer, 40 ms to write it",
      wanted: "≥ 90 % of the slower of flash and air",
      measured: "\(Figure.percent(share)) (\(Figure.kilobytes(raw.bytesPerSecond))); without a "
        + "window: NimBLEOta \(Figure.kilobytes(others[0].bytesPerSecond)), "
        + "BLEOTA \(Figure.kilobytes(others[1].bytesPerSecond)), which erases during the transfer",
      isMet: share >= 0.9 && raw.rewinds == 0)
  }

  /// Each packet is a Write Request, which takes two connection intervals with its response. The
  /// answer to a sector needs no additional interval.
  private static func requests() throws -> Goal {
    let upload = try Upload(onto: "sim:esp-nimble?\(link)&erase=0", size: size / 4)
    let interval = upload.profile.radio.interval.duration / .seconds(1)
    let limit = 4096 / (Double(2 * packetsPerSector) * interval)
    let share = upload.bytesPerSecond / limit
    return Goal(
      what: "ble_ota on NimBLE, the same link, packets with response; the partition was erased at "
        + "the start of the device, 40 ms to write a page",
      wanted: "≥ 95 % of one packet in two intervals",
      measured: "\(Figure.percent(share)) (\(Figure.kilobytes(upload.bytesPerSecond)))",
      isMet: share >= 0.95 && upload.rewinds == 0)
  }
}
