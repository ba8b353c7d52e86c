import OtaflashSimulation
import OtaflashSwarm

/// The goals of Silicon Labs' OTA, in virtual time.
enum SilabsGoals {
  private static let size = 512 * 1024
  private static let link = "sim:silabs?interval=15ms&mtu=247&slot=1M&start=loader"

  static func all() throws -> [Goal] {
    let flash = try ["1M", "2M"].map { phy in
      try Upload(onto: "\(link)&phy=\(phy)&erase=85ms&write=40ms", size: size)
    }
    let air = try Upload(onto: link + "&phy=2M&erase=0&write=0", size: size)
    let shares =
      flash.map { $0.share(flash: $0.profile.eraseTime + $0.profile.writeTimePer4KiB) }
      + [air.share(flash: .zero)]
    return [
      Goal(
        what: "Silicon Labs AppLoader, MTU 247, 15 ms, 1M and 2M, 85 ms to erase and 40 ms to "
          + "write a page", wanted: "≥ 90 % of the slower of flash and air",
        measured: "\(Figure.percent(min(shares[0], shares[1]))) (worst, "
          + "\(Figure.kilobytes(flash.map(\.bytesPerSecond).min() ?? 0))); "
          + "\(Figure.percent(shares[2])) without flash time",
        isMet: (shares.min() ?? 0) >= 0.9)
    ]
  }
}
