import OtaflashFirmware
import OtaflashWire

/// The state that a server reports before anything is sent. Any value except the list of slots may
/// be missing, because the supported commands depend on the build of the firmware.
struct SMPFacts: Equatable, Sendable {
  var buffers = SMPBuffers()
  var bootloader = SMPOS.BootloaderInfo.Response()
  var state: SMPImage.State
  var sizes: SMPImage.SlotInfo.Response?

  /// Whether the server has the command that selects the next image; determined on first use.
  var stateWrite = StateWriteSupport.unknown

  enum StateWriteSupport: Sendable { case unknown, missing }

  /// The mode of the bootloader. If the server does not report the mode, and does not have the
  /// command that selects the next image, the bootloader selects the image by version, as in
  /// RAM-load mode.
  var mode: MCUbootMode {
    bootloader.mode.map(MCUbootMode.init) ?? (stateWrite == .missing ? .ramLoad : .unknown)
  }

  /// Returns the active slot of one of the device's images.
  func running(_ image: Int) -> SMPImage.Slot? { state.running(image) }

  /// Whether the application runs and only the bootloader or a second application can replace it.
  var mustLeaveApplication: Bool {
    guard let running = running(0) else { return false }
    return switch mode {
    case .singleApplication: true
    // The firmware loader is in slot 1, and the application is in slot 0.
    case .firmwareLoader: running.slot == 0
    case .unknown, .swapUsingScratch, .overwriteOnly, .swapWithoutScratch, .directXIP,
      .directXIPWithRevert, .ramLoad:
      false
    }
  }

  /// Returns the maximum file size in bytes for one of the device's images, if the server reports
  /// it: the bootloader's value, or otherwise the size of the smallest slot.
  func largestFile(_ image: Int) -> Int? {
    guard let entry = slotSizes(of: image) else { return nil }
    return entry.largestImage ?? entry.slots.compactMap(\.size).min()
  }

  /// Returns the maximum sizes of a compressed image in bytes: the file must fit slot 1, which may
  /// be smaller, and the decompressed image must fit slot 0.
  func largestCompressed(_ image: Int) -> (file: Int?, decompressed: Int?) {
    let entry = slotSizes(of: image)
    func size(_ slot: Int) -> Int? { entry?.slots.first { $0.slot == slot }?.size }
    let first = [size(0), entry?.largestImage].compactMap(\.self).min()
    return (size(1), first)
  }

  private func slotSizes(of image: Int) -> SMPImage.SlotInfo.Image? {
    sizes?.images.first { $0.image == image }
  }
}

extension SMPFacts {
  /// The numbers of the device's images; `nil` if they are unknown, because the device does not
  /// report the sizes of its slots, and its list of slots is empty or contains image numbers.
  var images: [Int]? {
    if let sizes { return sizes.images.map(\.image) }
    // A server with one image reports no image number.
    return state.slots.isEmpty || state.slots.contains { $0.image != nil } ? nil : [0]
  }
}

extension SMPImage.State {
  func slots(of image: Int) -> [SMPImage.Slot] { slots.filter { ($0.image ?? 0) == image } }

  /// Returns whether the running image of this number is on trial.
  func isOnTrial(_ image: Int) -> Bool {
    running(image).map { !$0.flags.contains(.confirmed) } ?? false
  }

  /// Returns the running slot of one of the device's images. Some servers report only the
  /// application as active; for other images, slot 0 is then in use.
  func running(_ image: Int) -> SMPImage.Slot? {
    let slots = slots(of: image)
    return slots.first { $0.flags.contains(.active) }
      ?? (image == 0 ? nil : slots.first { $0.slot == 0 })
  }

  /// Returns the slot with the received image. If both slots contain the same image, returns the
  /// inactive slot.
  func received(_ image: FirmwareImage) -> SMPImage.Slot? {
    let index = image.place.imageIndex
    let current = running(index)
    let held = slots(of: index).first {
      $0.slot != current?.slot && $0.stores(image) != .different
    }
    return held ?? current.flatMap { $0.runs(image) == .different ? nil : $0 }
  }
}

extension SMPImage.Slot {
  /// The version in the common notation.
  var versionName: String { MCUbootVersion(version).map { "\($0)" } ?? version }

  /// Compares the image in this inactive slot with the sent image. A server without hashes reports
  /// only versions.
  func stores(_ image: FirmwareImage) -> RunningImage.Agreement {
    agrees(with: image.mcuboot?.hash?.bytes, of: image)
  }

  /// Compares the image in this active slot with the sent image. The active slot contains a
  /// compressed image in decompressed form.
  func runs(_ image: FirmwareImage) -> RunningImage.Agreement {
    agrees(with: image.mcuboot?.runningHash, of: image)
  }

  private func agrees(
    with expected: [UInt8]?, of image: FirmwareImage
  ) -> RunningImage.Agreement {
    guard let mcuboot = image.mcuboot else { return .different }
    if let hash, mcuboot.hash != nil { return hash == expected ? .same : .different }
    return MCUbootVersion(version) == mcuboot.version ? .sameVersion : .different
  }
}

extension MCUbootMode {
  /// Whether the bootloader automatically starts the image with the higher version, so that no
  /// image can be selected.
  var choosesByVersion: Bool {
    switch self {
    case .directXIP, .ramLoad: true
    case .unknown, .singleApplication, .swapUsingScratch, .overwriteOnly, .swapWithoutScratch,
      .directXIPWithRevert, .firmwareLoader:
      false
    }
  }

  /// Whether an image must be marked for the next start, by its hash, before the restart.
  var needsTest: Bool {
    switch self {
    case .unknown, .swapUsingScratch, .overwriteOnly, .swapWithoutScratch, .directXIPWithRevert:
      true
    case .singleApplication, .directXIP, .ramLoad, .firmwareLoader: false
    }
  }

  /// Whether an image is copied to another slot, or swapped with the other image, before it runs.
  var movesPages: Bool {
    switch self {
    case .unknown, .swapUsingScratch, .overwriteOnly, .swapWithoutScratch: true
    case .singleApplication, .directXIP, .directXIPWithRevert, .ramLoad, .firmwareLoader: false
    }
  }

  /// Whether the bootloader may support compressed images, which MCUboot does only while it copies
  /// the new image over the old image.
  var mayDecompress: Bool {
    switch self {
    case .unknown, .overwriteOnly: true
    case .singleApplication, .swapUsingScratch, .swapWithoutScratch, .directXIP,
      .directXIPWithRevert, .ramLoad, .firmwareLoader:
      false
    }
  }

  /// Whether an image runs in its slot, so that it must be built for one of the slots.
  var runsInPlace: Bool { self == .directXIP || self == .directXIPWithRevert }

  /// Whether the bootloader reverts an unconfirmed image to the previous image.
  var reverts: Bool {
    switch self {
    case .unknown, .swapUsingScratch, .swapWithoutScratch, .directXIPWithRevert: true
    case .singleApplication, .overwriteOnly, .directXIP, .ramLoad, .firmwareLoader: false
    }
  }
}
