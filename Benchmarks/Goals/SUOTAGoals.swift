import OtaflashSimulation
import OtaflashSwarm

/// The goals of SUOTA, in virtual time.
enum SUOTAGoals {
  private static let link = "phy=2M&interval=15ms&mtu=247&slot=1M&erase=85ms&write=40ms"
  private static let size = 512 * 1024
  /// The buffer of a DA1453x, which limits a block.
  private static let block = 512
  private static let page = 4096

  static func all() throws -> [Goal] { [try stream(), try blocks()] }

  private static func stream() throws -> Goal {
    let uploads = try ["da1468x", "da1469x"].map {
      try Upload(onto: "sim:suota?chip=\($0)&\(link)", size: size)
    }
    let shares = uploads.map {
      $0.share(flash: $0.profile.eraseTime + $0.profile.writeTimePer4KiB)
    }
    return Goal(
      what: "SUOTA on DA1468x and DA1469x, 2M, 15 ms, MTU 247, 85 ms to erase and 40 ms to write a "
        + "page", wanted: "≥ 85 % of the slower of flash and air",
      measured: "\(Figure.percent(shares.min() ?? 0)) "
        + "(\(Figure.kilobytes(uploads.map(\.bytesPerSecond).min() ?? 0)))",
      isMet: (shares.min() ?? 0) >= 0.85 && uploads.allSatisfy { $0.rewinds == 0 })
  }

  /// A block takes one connection interval for its packets, and one for its status, during which
  /// the device also writes the block. The time to erase the page is added.
  private static func blocks() throws -> Goal {
    let upload = try Upload(onto: "sim:suota-da1453x?erasing=demand&\(link)", size: size)
    let interval = upload.profile.radio.interval.duration
    let perPage = interval * (2 * page / block) + upload.profile.eraseTime
    let limit = Double(page) / (perPage / .seconds(1))
    let share = upload.bytesPerSecond / limit
    return Goal(
      what: "SUOTA on DA1453x, the same link, blocks of 512 bytes",
      wanted: "≥ 85 % of one block in two intervals plus the time to erase",
      measured: "\(Figure.percent(share)) (\(Figure.kilobytes(upload.bytesPerSecond)))",
      isMet: share >= 0.85 && upload.rewinds == 0)
  }
}
