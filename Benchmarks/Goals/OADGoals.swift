import OtaflashSimulation

/// The goal of TI's OAD, in virtual time.
enum OADGoals {
  private static let size = 128 * 1024
  private static let page = 4096

  static func all() throws -> [Goal] { [try rates()] }

  /// The limit of the sequence: a device with a Boot Image Manager erases all pages after the
  /// header, and then the slower of air and flash limits the rate. With MCUboot, each page is
  /// erased when its first block arrives.
  private static func rates() throws -> Goal {
    let devices = [("ti-oad", 244, true), ("ti-oad-mcuboot", 240, false)]
    let found = try devices.map { (name, block, erasesFirst) in
      let upload = try Upload(
        onto: "sim:\(name)?phy=2M&interval=15ms&mtu=247&slot=256K", size: size)
      let profile = upload.profile
      let air =
        profile.radio.eventPackedLimit(mtu: block + 3) * Double(block - 4) / Double(block)
      let pages = Double(size / page)
      let erase = pages * (profile.eraseTime / .seconds(1))
      let write = pages * (profile.writeTimePer4KiB / .seconds(1))
      let send = Double(size) / air
      let limit = erasesFirst ? erase + max(write, send) : max(erase + write, send)
      return (
        share: limit / (Double(size) / upload.bytesPerSecond), rate: upload.bytesPerSecond,
        rewinds: upload.rewinds
      )
    }
    return Goal(
      what: "TI OAD, 128 KiB, 2M, 15 ms, MTU 247, 85 ms to erase a page and 40 ms to write it: all "
        + "pages erased after the header (CC26xx), or each page on demand (MCUboot)",
      wanted: "≥ 85 % of the limit of erase, write and air",
      measured: found.map { "\(Figure.percent($0.share)) (\(Figure.kilobytes($0.rate)))" }
        .joined(separator: "; "), isMet: found.allSatisfy { $0.share >= 0.85 && $0.rewinds == 0 })
  }
}
