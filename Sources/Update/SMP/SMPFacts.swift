import OtaflashFirmware
import OtaflashWire

/// What a server says of itself before anything is sent. Everything but the list of slots may be
/// missing: firmware is built with some commands and without others.
struct SMPFacts: Equatable, Sendable {
  var parameters: SMPOS.Parameters.Response?
  /// A request may be longer than one write: the server puts its parts together.
  var reassembles = false
  var bootloader = SMPOS.BootloaderInfo.Response()
  var state: SMPImage.State
  var sizes: SMPImage.SlotInfo.Response?

  /// Whether the server has the command that chooses the next image; learned when it is needed.
  var stateWrite = StateWriteSupport.unknown

  enum StateWriteSupport: Sendable { case unknown, missing }

  /// A server without the command that chooses the next image is one of a bootloader that chooses
  /// by version, such as Zephyr's in RAM-load mode.
  var mode: MCUbootMode {
    bootloader.mode.map(MCUbootMode.init) ?? (stateWrite == .missing ? .ramLoad : .unknown)
  }

  /// The slot that runs, of one of the device's images.
  func running(_ image: Int) -> SMPImage.Slot? { state.running(image) }

  /// The application runs, and only the bootloader, or a second application, can replace it.
  var mustLeaveApplication: Bool {
    guard let running = running(0) else { return false }
    return switch mode {
    case .singleApplication: true
    // The loader lies in the second slot.
    case .firmwareLoader: running.slot == 0
    case .unknown, .swapUsingScratch, .overwriteOnly, .swapWithoutScratch, .directXIP,
      .directXIPWithRevert, .ramLoad:
      false
    }
  }

  /// Bytes of the largest file for one of the device's images, where the server tells it: what the
  /// bootloader told it, else the size of the smallest slot.
  func largestFile(_ image: Int) -> Int? {
    guard let entry = slotSizes(of: image) else { return nil }
    return entry.largestImage ?? entry.slots.compactMap(\.size).min()
  }

  /// The same of a compressed image: as a file it must fit the second slot, which may be the
  /// smaller one, and decompressed the first.
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
  /// Bytes of a request to a server that does not tell its buffers': the default of Zephyr
  /// (MCUMGR_BUF_SIZE, now MCUMGR_TRANSPORT_NETBUF_SIZE).
  private static let bufferDefault = 384
  /// Requests under way at most, however many buffers a server has.
  private static let widthMaximum = 6

  /// Bytes of an upload request at most: what fills the air best among what the server can take.
  func requestMaximum(over channel: SMPChannel, least: Int) -> Int {
    let oneWrite = channel.fragmentSize >= least ? channel.fragmentSize : channel.writeMaximum
    guard let buffer = parameters?.bufferSize else { return min(oneWrite, Self.bufferDefault) }
    guard reassembles else { return min(buffer, oneWrite) }
    return SMPPacketSize.best(
      buffer: min(buffer, SMPHeader.size + SMPHeader.bodyMaximum), fragment: channel.partSize,
      sizing: channel.sizing)
  }

  /// Requests that may be under way at once: one of the buffers stays free for an answer. A server
  /// that does not tell how many it has gets one.
  var widthLimit: Int {
    guard let count = parameters?.bufferCount else { return 1 }
    return min(max(1, count - 1), Self.widthMaximum)
  }

  /// Requests that are tried at once. Where a request is one write it is lost as a whole when it
  /// finds no buffer, and the next answer tells; where it is several, a server that missed the
  /// first would take the second for the beginning of another.
  func reach(ofRequests bytes: Int, over channel: SMPChannel) -> Int {
    parameters != nil && bytes <= channel.writeMaximum ? Self.widthMaximum : widthLimit
  }

  /// The numbers of the device's images; `nil` where it has several and does not tell which.
  var images: [Int]? {
    if let sizes { return sizes.images.map(\.image) }
    // A server with one image does not number it.
    return state.slots.isEmpty || state.slots.contains { $0.image != nil } ? nil : [0]
  }
}

extension SMPImage.State {
  func slots(of image: Int) -> [SMPImage.Slot] { slots.filter { ($0.image ?? 0) == image } }

  /// What runs of an image runs for this once.
  func isOnTrial(_ image: Int) -> Bool {
    running(image).map { !$0.flags.contains(.confirmed) } ?? false
  }

  /// Some servers call only the application active; of other images the first slot is in use then.
  func running(_ image: Int) -> SMPImage.Slot? {
    let slots = slots(of: image)
    return slots.first { $0.flags.contains(.active) }
      ?? (image == 0 ? nil : slots.first { $0.slot == 0 })
  }

  /// The slot that holds what was sent: not the one that runs, if the same image is in both.
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
  /// The version as it is written elsewhere.
  var versionName: String { MCUbootVersion(version).map { "\($0)" } ?? version }

  /// Whether the image in this slot, which does not run, is that one as it was sent. A server
  /// without hashes has only versions to tell.
  func stores(_ image: FirmwareImage) -> RunningImage.Agreement {
    agrees(with: image.mcuboot?.hash?.bytes, of: image)
  }

  /// The same of the slot that runs: one that came compressed is there decompressed.
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
  /// The bootloader starts the higher version by itself: nothing can be chosen.
  var choosesByVersion: Bool {
    switch self {
    case .directXIP, .ramLoad: true
    case .unknown, .singleApplication, .swapUsingScratch, .overwriteOnly, .swapWithoutScratch,
      .directXIPWithRevert, .firmwareLoader:
      false
    }
  }

  /// An image must be put on trial, by its hash, before the restart.
  var needsTest: Bool {
    switch self {
    case .unknown, .swapUsingScratch, .overwriteOnly, .swapWithoutScratch, .directXIPWithRevert:
      true
    case .singleApplication, .directXIP, .ramLoad, .firmwareLoader: false
    }
  }

  /// An image is copied, or exchanged with the other one, before it runs.
  var movesPages: Bool {
    switch self {
    case .unknown, .swapUsingScratch, .overwriteOnly, .swapWithoutScratch: true
    case .singleApplication, .directXIP, .directXIPWithRevert, .ramLoad, .firmwareLoader: false
    }
  }

  /// A slot's image runs where it lies, so that it is built for one of the slots.
  var runsInPlace: Bool { self == .directXIP || self == .directXIPWithRevert }

  /// An image that runs and was never confirmed will be replaced by the one before.
  var reverts: Bool {
    switch self {
    case .unknown, .swapUsingScratch, .swapWithoutScratch, .directXIPWithRevert: true
    case .singleApplication, .overwriteOnly, .directXIP, .ramLoad, .firmwareLoader: false
    }
  }
}
