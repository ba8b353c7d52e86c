import OtaflashFirmware

extension SMPFacts {
  /// Compares the image with the device's report of its slots. Nothing is written.
  ///
  /// - Throws: `doesNotFit`, `downgrade`, `olderBuild`, `imageNotTaken`, or `declined` if the
  ///   device has no place for the image, or if the bootloader would never start the image.
  func check(_ image: FirmwareImage, options: UpdateOptions) throws(UpdateFault) -> Preflight {
    guard let mcuboot = image.mcuboot else { throw .imageNotTaken(by: [.smp]) }
    if mcuboot.header.flags.contains(.nonBootable) { throw .declined(.prepare, .notBootable) }
    if image.isInTheClear { throw .declined(.prepare, .inTheClear) }
    if image.installer != nil, mode != .firmwareLoader {
      throw .declined(.prepare, .installerWithoutLoader)
    }
    let place = image.place
    if let images, !images.contains(place.imageIndex) {
      throw .declined(.prepare, .noSuchImage(place.imageIndex, among: images))
    }
    let running = runningApplication(place.imageIndex)
    if running?.runs(image) == .same && !options.sendsAnyway { return .alreadyCurrent }
    try checkSize(of: mcuboot, in: image)
    if mode.runsInPlace, let slot = place.slot, slot == running?.slot {
      throw .declined(.prepare, .builtForRunningSlot(slot))
    }
    if let version = (running?.version).flatMap(MCUbootVersion.init) {
      try check(mcuboot.version, against: version, options)
    }
    return .send(
      UpdatePlan(
        image: image, version: mcuboot.version.firmwareVersion,
        allowsDowngrade: options.allowsDowngrade))
  }

  private func checkSize(
    of mcuboot: MCUbootImage, in image: FirmwareImage
  ) throws(UpdateFault) {
    var largest = largestFile(image.place.imageIndex)
    if mcuboot.isCompressed {
      guard mcuboot.decompressedHash != nil, let size = mcuboot.decompressedSize else {
        throw .declined(.prepare, .decompressedNotStated)
      }
      guard mode.mayDecompress else { throw .declined(.prepare, .compressed(for: mode)) }
      let limits = largestCompressed(image.place.imageIndex)
      if let first = limits.decompressed, size > first {
        throw .declined(.prepare, .decompressedTooLarge(size, slot: first))
      }
      largest = limits.file
    }
    if let largest, image.bytes.count > largest {
      throw .doesNotFit(imageSize: image.bytes.count, slotSize: largest)
    }
  }

  private func check(
    _ image: MCUbootVersion, against running: MCUbootVersion, _ options: UpdateOptions
  ) throws(UpdateFault) {
    if image < running && !options.allowsDowngrade {
      guard image.firmwareVersion != running.firmwareVersion else {
        throw .olderBuild(running: running, image: image)
      }
      throw .downgrade(running: running.firmwareVersion, image: image.firmwareVersion)
    }
    if image <= running && mode.choosesByVersion {
      throw .declined(.prepare, .neverStarts("\(image)", running: "\(running)"))
    }
    if image < running && bootloader.forbidsDowngrade ?? false {
      throw .declined(.prepare, .forbidsDowngrade("\(image)", running: "\(running)"))
    }
  }
}
