import OtaflashFirmware
import OtaflashSimulation
import OtaflashSwarm
import OtaflashUpdate
import Synchronization

/// Goals of third-party protocols, in virtual time: the rate of an upload relative to the limits of
/// air, flash and the device's buffers.
enum ProtocolGoals {
  /// The size of an upload, large enough that the first steps of the window do not matter.
  private static let size = 1024 * 1024
  private static let nordicSize = 128 * 1024
  private static let fileSize = 256 * 1024

  static func all() throws -> [Goal] {
    let full = try smp(Self.fast)
    return try [
      fullBuffers(full), againstOneRequest(full), zephyrDefaults(), flashWords(), files(),
      secure(), legacy(), legacySettings(), telink(),
    ] + EspressifGoals.all()
  }

  // MARK: SMP

  private static let link = "phy=2M&interval=15ms"
  /// The settings that Zephyr's documentation recommends for speed.
  private static let fast = "sim:smp?\(link)&slot=2M&mtu=498&netbufs=4x2475"
  /// The default settings of Zephyr.
  private static let defaults =
    "sim:smp?\(link)&slot=2M&mtu=247&netbufs=4x384&reassembly=no"

  private static func fullBuffers(_ full: Upload) throws -> Goal {
    let shares = try [
      full.share(flash: full.profile.writeTimePer4KiB),
      smp(fast + "&progressive=yes").share(
        flash: full.profile.eraseTime + full.profile.writeTimePer4KiB),
      smp(fast + "&erase=0&write=0").share(flash: .zero),
    ]
    return Goal(
      what: "SMP, 2M, packets of 251 bytes, 15 ms, 4 buffers of 2475 bytes, 40 ms to write each "
        + "page of 4 KiB, pages erased ahead (85 ms each)",
      wanted: "≥ 90 % of the slower of flash and air",
      measured: "\(Figure.percent(shares[0])) (\(Figure.kilobytes(full.bytesPerSecond))); "
        + "\(Figure.percent(shares[1])) if pages are erased on demand; "
        + "\(Figure.percent(shares[2])) without flash time", isMet: (shares.min() ?? 0) >= 0.9)
  }

  private static func againstOneRequest(_ full: Upload) throws -> Goal {
    let one = try smp(fast, requests: 1)
    let ratio = full.bytesPerSecond / one.bytesPerSecond
    return Goal(
      what: "the same relative to one request at a time", wanted: "≥ 2 times as fast",
      measured: "\(Figure.fixed(ratio, digits: 2)) times "
        + "(one request: \(Figure.kilobytes(one.bytesPerSecond)))", isMet: ratio >= 2)
  }

  private static func zephyrDefaults() throws -> Goal {
    let found = try smp(defaults)
    let one = try smp(defaults, requests: 1)
    let ratio = found.bytesPerSecond / one.bytesPerSecond
    return Goal(
      what: "SMP with Zephyr's defaults (4 buffers of 384 bytes, no reassembly), MTU 247, relative "
        + "to one request at a time", wanted: "≥ 3 times as fast",
      measured: "\(Figure.fixed(ratio, digits: 2)) times "
        + "(\(Figure.kilobytes(found.bytesPerSecond)) instead of "
        + "\(Figure.kilobytes(one.bytesPerSecond)))", isMet: ratio >= 3)
  }

  /// Measures servers that accept only complete flash words, and acknowledge fewer bytes than were
  /// sent.
  private static func flashWords() throws -> Goal {
    let plain = [
      "sim:smp?\(link)&slot=2M&mtu=498&netbufs=4x2475&erase=0&write=0",
      "sim:smp?\(link)&slot=2M&mtu=498&netbufs=4x512&reassembly=no&erase=0&write=0",
    ]
    var shares: [Double] = []
    var rates: [Double] = []
    var rewinds = 0
    for profile in plain {
      let any = try smp(profile)
      let words = try smp(profile + "&unit=8")
      shares.append(words.bytesPerSecond / any.bytesPerSecond)
      rates.append(words.bytesPerSecond)
      rewinds += words.rewinds
    }
    return Goal(
      what:
        "SMP, 15 ms, MTU 498, 4 buffers: a server that accepts only complete words of 8 bytes, "
        + "relative to a server that accepts any size", wanted: "≥ 95 %, no repetitions",
      measured: "\(Figure.percent(shares[0])) (\(Figure.kilobytes(rates[0]))); "
        + "\(Figure.percent(shares[1])) (\(Figure.kilobytes(rates[1]))) if each request is one "
        + "write; \(rewinds) repetitions",
      isMet: (shares.min() ?? 0) >= 0.95 && rewinds == 0)
  }

  /// A file is stored in pages that are erased on demand, like an image with progressive erasing.
  private static func files() throws -> Goal {
    let profiles = [fast, fast + "&erase=0&write=0"].map { $0 + "&files=1M&progressive=yes" }
    let shares = try profiles.map { profile in
      try FileUpload(onto: profile, size: fileSize).bytesPerSecond
        / Upload(onto: profile, size: fileSize).bytesPerSecond
    }
    return Goal(
      what: "SMP, a file of 256 KiB, 2M, 15 ms, 4 buffers of 2475 bytes, relative to an image",
      wanted: "≥ 90 %",
      measured: "\(Figure.percent(shares[0])); \(Figure.percent(shares[1])) without flash time",
      isMet: (shares.min() ?? 0) >= 0.9)
  }

  private static func smp(_ profile: String, requests: Int? = nil) throws -> Upload {
    try Upload(onto: profile, size: size, window: requests)
  }

  // MARK: Nordic

  private static func secure() throws -> Goal {
    let uploads = try ["1M", "2M"].map { phy in
      try Upload(
        onto: "sim:nordic-dfu?mtu=247&interval=15ms&erase=85ms&phy=\(phy)", size: nordicSize)
    }
    let slowest = uploads.map(\.bytesPerSecond).min() ?? 0
    let repeated = uploads.map(\.bytesRepeated).reduce(0, +)
    return Goal(
      what: "Secure DFU, MTU 247, 15 ms, 1M and 2M, 85 ms to erase a page, 41 µs to write a word",
      wanted: "≥ 19 kB/s; no packet lost in the packet pool of the device",
      measured: "\(Figure.kilobytes(slowest)) (worst); \(repeated) bytes sent again",
      isMet: slowest >= 19_000 && repeated == 0 && uploads.allSatisfy { $0.rewinds == 0 })
  }

  /// The bootloader erases the settings page after its answer to START: packets that arrive
  /// meanwhile fill its buffers.
  private static func legacySettings() throws -> Goal {
    let uploads = try ["8x32", "16x600"].flatMap { pool in
      try ["same", "next"].map { response in
        try Upload(
          onto: "sim:nordic-legacy?interval=7.5ms&erase=85ms&pool=\(pool)&response=\(response)",
          size: nordicSize)
      }
    }
    let restarts = uploads.map(\.rewinds).reduce(0, +)
    let slowest = uploads.map(\.bytesPerSecond).min() ?? 0
    return Goal(
      what:
        "legacy DFU, 8 and 16 buffers, 7.5 ms, answers in the same or the next connection event, "
        + "85 ms to erase the settings page", wanted: "0 restarts",
      measured: "\(restarts) restarts, \(Figure.kilobytes(slowest)) (worst)", isMet: restarts == 0)
  }

  private static func legacy() throws -> Goal {
    let shares = try ["1M", "2M"].map { phy in
      let upload = try Upload(
        onto: "sim:nordic-legacy?mtu=23&interval=15ms&phy=\(phy)", size: nordicSize)
      return upload.bytesPerSecond / upload.profile.radio.eventPackedLimit(mtu: 23)
    }
    let worst = shares.min() ?? 0
    return Goal(
      what: "legacy DFU, packets of 20 bytes, 15 ms, 1M and 2M",
      wanted: "≥ 80 % of the air limit for packets of 20 bytes",
      measured: "\(Figure.percent(worst)) (worst) to \(Figure.percent(shares.max() ?? 0))",
      isMet: worst >= 0.8)
  }
  // MARK: Telink

  /// Compares the rate with the lower of two limits: the air limit for packets of this size, and
  /// the limit of the flash, which a chip writes before it processes the next PDU.
  private static func telink() throws -> Goal {
    let devices = [("telink?mtu=247", 240), ("telink?mtu=87", 80), ("telink-legacy?mtu=247", 16)]
    let found = try devices.map { (name, length) in
      let upload = try Upload(onto: "sim:\(name)&phy=2M&interval=15ms", size: nordicSize)
      let air =
        upload.profile.radio.eventPackedLimit(mtu: length + 7) * Double(length)
        / Double(length + 4)
      let flash = 4096 / (upload.profile.writeTimePer4KiB / .seconds(1))
      return (share: upload.bytesPerSecond / min(air, flash), rate: upload.bytesPerSecond)
    }
    return Goal(
      what: "Telink OTA, 2M, 15 ms, MTU 247 (87 for 80 bytes), packets of 240, 80 and 16 bytes, "
        + "145 µs to write 16 bytes",
      wanted: "≥ 90 % of the slower of flash and air for packets of this size",
      measured: found.map { "\(Figure.percent($0.share)) (\(Figure.kilobytes($0.rate)))" }
        .joined(separator: "; "), isMet: found.allSatisfy { $0.share >= 0.9 })
  }
}

/// The upload stage of one update in virtual time.
struct Upload {
  let profile: SimulationProfile
  let mtu: Int
  /// The image bytes sent during the stage, divided by its time.
  let bytesPerSecond: Double
  let bytesRepeated: Int
  let rewinds: Int

  /// - Parameter window: the maximum number of bytes in flight; 1 = one write or request at a time.
  init(onto text: String, size: Int, window: Int? = nil) throws {
    let profile = try SimulationProfile(parsing: text)
    let image = try FirmwareImage.drawn(for: text, size: size)
    let events = Mutex<[UpdateEvent]>([])
    var options = UpdateOptions()
    options.patches.policy = .never
    options.windowLimit = window
    let update = FirmwareUpdate(image: image, options: options) { event in
      events.withLock { $0.append(event) }
    }
    let result = try VirtualRun.of(profile) { (dialer, clock) async throws(UpdateFault) in
      try await update.run(on: dialer, clock: clock)
    }
    let log = events.withLock { $0 }
    self.profile = profile
    mtu = profile.mtu
    // The first request of SMP, for which the slot is erased, belongs to the previous stage.
    let carried = image.bytes.count - Self.carriedBefore(log, profile)
    bytesPerSecond = Double(carried) / (result.uploadTook / .seconds(1))
    bytesRepeated = result.bytesSent - image.bytes.count
    rewinds = log.count { if case .rewound = $0 { true } else { false } }
  }

  private static func carriedBefore(_ log: [UpdateEvent], _ profile: SimulationProfile) -> Int {
    guard profile.device.settings(as: SMPServerSettings.self) != nil else { return 0 }
    for case .progress(let acknowledged, _) in log { return acknowledged }
    return 0
  }

  /// Returns the rate as a fraction of the slower of flash and air; the headers of requests lower
  /// the result.
  ///
  /// - Parameter flash: the flash time of 4 KiB during the upload.
  func share(flash: Duration) -> Double {
    let air = profile.radio.eventPackedLimit(mtu: mtu)
    let limit = flash > .zero ? min(air, 4096 / (flash / .seconds(1))) : air
    return bytesPerSecond / limit
  }
}
