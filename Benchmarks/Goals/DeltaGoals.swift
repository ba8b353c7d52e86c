import OtaflashSampleFirmware
import OtaflashSimulation
import OtaflashUpdate

/// Goals of patches, in virtual time: the gain for a release and for a small change.
enum DeltaGoals {
  private static let size = 512 * 1024
  /// The share of functions and constants that differ between the releases. The patch has 16 % of
  /// the size of the image, like the patch between two releases of a Zephyr application.
  private static let releaseShare = 0.07
  /// Links of about 6, 20 and 60 kB/s. `buffers` is the number of packets of 251 bytes that the
  /// controllers hold for a connection event.
  private static let links = [
    "phy=1M&interval=40ms&buffers=1", "phy=1M&interval=50ms&buffers=4",
    "phy=2M&interval=20ms&buffers=5",
  ]
  private static let device = "sim:?mtu=247&slot=1M&erase-ahead=yes"

  static func all() throws -> [Goal] {
    let release = RelinkedFirmware(size: size, changing: releaseShare)
    return try [gain(of: release), share(of: release), versionString()]
  }

  private static func gain(of release: RelinkedFirmware) throws -> Goal {
    let text = device + "&" + links[0]
    let patch = try update(release, asPatch: true, on: text)
    let plain = try update(release, asPatch: false, on: text)
    let gain = patch.rate / plain.rate
    return Goal(
      what: "a patch of ≤ 17 % for a release of 512 KiB, relative to the complete image: image "
        + "bytes per second, air limit 6 kB/s, flash erased ahead",
      wanted: "≥ 5.5 times as fast",
      measured: "\(Figure.fixed(gain, digits: 2)) times (\(Figure.kilobytes(patch.rate)) instead "
        + "of \(Figure.kilobytes(plain.rate)); patch of \(Figure.percent(patch.ratio)))",
      isMet: gain >= 5.5 && patch.ratio <= 0.17)
  }

  private static func share(of release: RelinkedFirmware) throws -> Goal {
    let found = try links.map { link -> (share: Double, rate: Double) in
      let patch = try update(release, asPatch: true, on: device + "&" + link)
      let air = patch.profile.radio.eventPackedLimit(mtu: 247)
      let flash = 4096 / (patch.profile.writeTimePer4KiB / .seconds(1))
      return (patch.rate / min(flash, air / patch.ratio), patch.rate)
    }
    let texts = found.map { "\(Figure.percent($0.share)) (\(Figure.kilobytes($0.rate)))" }
    return Goal(
      what: "the same patch, air limits of 6, 20 and 60 kB/s",
      wanted: "≥ 95 % of min(flash, air / ratio)",
      measured: texts.joined(separator: ", "),
      isMet: (found.map(\.share).min() ?? 0) >= 0.95)
  }

  private static func versionString() throws -> Goal {
    let change = RelinkedFirmware(size: size / 2, changing: 0)
    let text = "sim:?mtu=23&erase-ahead=yes"
    let patch = try update(change, asPatch: true, mode: .withResponse, on: text)
    let plain = try update(change, asPatch: false, mode: .withResponse, on: text)
    let gain = patch.rate / plain.rate
    return Goal(
      what: "a patch for a changed version string in 256 KiB, relative to the complete image: "
        + "MTU 23, writes with response, flash erased ahead",
      wanted: "≥ 30 times as fast",
      measured: "\(Figure.fixed(gain, digits: 0)) times (\(Figure.fixed(patch.seconds)) s instead "
        + "of \(Figure.fixed(plain.seconds)) s; \(patch.bytes) bytes sent)", isMet: gain >= 30)
  }

  private static func update(
    _ release: RelinkedFirmware, asPatch: Bool, mode: WriteMode = .auto, on text: String
  ) throws -> ImageUpdate {
    try ImageUpdate(from: release.old, to: release.new, asPatch: asPatch, mode: mode, on: text)
  }
}
