import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// The firmware of a Zephyr device with MCUboot: the slots of its images, the bootloader's
/// decisions on them, and at each boot the SMP server of the application or of the bootloader.
final class SMPFirmware: BoardFirmware {
  private struct State: Sendable {
    /// The images; the first is the application's image.
    var images: [BootedImage]
    /// A register that keeps its value through a reset, but not through a loss of power.
    var entersRecovery = false
    var misbehavior: SMPMisbehavior
    /// The name of the firmware loader, in memory that keeps its value through a reset.
    var loaderName: String?
    /// The application's data, which is in memory if the flash has no pages for it.
    var store: FlashDataStore
    var realTimeClock: SMPServer.RealTimeClock?
  }

  let settings: SMPServerSettings
  let parts: BoardParts
  private let state: Shared<State>
  /// The build configuration of the bootloader.
  private let rules: BootableImage.Rules
  /// The hashes of the factory images, which count as correctly signed.
  private let factoryHashes: [[UInt8]]

  init(_ settings: SMPServerSettings, of parts: BoardParts) throws(FlashFault) {
    self.settings = settings
    self.parts = parts
    rules = BootableImage.Rules(
      decompresses: settings.decompresses && settings.mode == .overwrite, key: settings.key,
      sizeMaximum: parts.settings.slotSize)
    let factory = (0..<(settings.key == nil ? 0 : settings.imageCount)).map {
      Self.factoryImage($0, of: parts).bytes[...]
    }
    factoryHashes = factory.compactMap { BootableImage(decoding: $0)?.hash }
    var images: [BootedImage] = []
    for index in 0..<settings.imageCount {
      let loader = Bootloader(flash: parts.flash, layout: parts.settings.layout.ofImage(index))
      let record = try loader.record { Self.factoryImage(index, of: parts) }
      images.append(BootedImage(loader: loader, record: record))
    }
    let store = try Self.store(settings, of: parts)
    state = Shared(
      State(
        images: images, misbehavior: SMPMisbehavior(plan: parts.settings.faults), store: store))
  }

  private static func store(
    _ settings: SMPServerSettings, of parts: BoardParts
  ) throws(FlashFault) -> FlashDataStore {
    try FlashDataStore(
      in: parts.flash, at: parts.settings.layout.size * settings.imageCount,
      pages: settings.dataPages)
  }

  private static func factoryImage(
    _ index: Int, of parts: BoardParts
  ) -> (bytes: [UInt8], version: FirmwareVersion, hardware: HardwareID) {
    let settings = parts.settings
    var random =
      index == 0 ? parts.factoryRandom : parts.random.forked(for: 200 + UInt64(index))
    let size = min(Bootloader.factoryImageSize, settings.slotSize / 2)
    let version = settings.version
    let bytes = BootableImage.assemble(
      version: BootableImage.Version(
        major: version.major, minor: version.minor, revision: version.patch),
      body: random.bytes(count: size))
    return (bytes, version, settings.hardware)
  }

  var address: DeviceAddress { parts.settings.address }

  var running: SlotImage {
    state.withLock { state in
      let record = state.images[0].record
      return record.images[record.active]
    }
  }

  func runningImage() throws(FlashFault) -> [UInt8] { try runningImages()[0] }

  func runningImages() throws(FlashFault) -> [[UInt8]] {
    var running: [[UInt8]] = []
    for image in state.withLock({ $0.images }) {
      let active = image.record.active
      let start = image.layout.slot(active)
      let size = Int(try described(slot: active, of: image.layout).size)
      running.append(try parts.flash.read(start..<start + size))
    }
    return running
  }

  // MARK: Boot

  /// The result of a boot for one image.
  private struct Decision {
    var image: BootedImage
    let isActivated: Bool
    /// The time to move pages between its slots.
    let moveTime: Duration

    var running: SlotImage { image.record.images[image.record.active] }
  }

  func boot(_ number: Int) throws(FlashFault) -> Boot {
    let installation = settings.mode == .firmwareLoader ? try runInstaller() : .zero
    var decisions: [Decision] = []
    for image in state.withLock({ $0.images }) { decisions.append(try decide(on: image)) }
    let isActivation = decisions.contains(where: \.isActivated)
    let (images, runs) = (decisions.map(\.image), decisions[0].running)
    let (entersRecovery, misbehavior) = state.withLock { state in
      defer { state.entersRecovery = false }
      state.images = images
      if isActivation { state.misbehavior.noteActivation() }
      let enters = settings.mode.needsRecovery && (state.entersRecovery || runs.size == 0)
      return (enters, state.misbehavior)
    }
    let kept = state.withLock { $0.store }
    var machine = SMPServer(
      settings, images: images, isRecovery: entersRecovery, misbehavior: misbehavior,
      store: kept.hasFiles ? try Self.store(settings, of: parts) : kept, parts: parts)
    (machine.savedName, machine.realTimeClock) = state.withLock {
      ($0.loaderName, $0.realTimeClock)
    }
    if parts.settings.faults.contains(.badBlock) {
      let record = images[0].record
      parts.weakenPage(
        of: images[0].layout.slot(entersRecovery ? record.active : record.inactive))
    }
    let program = SMPProgram(
      machine, of: self, runs: runs, isActivation: decisions[0].isActivated,
      random: parts.random.forked(for: 1000 + UInt64(number)))
    return Boot(
      program: program, isActivation: isActivation,
      flashTime: decisions.reduce(installation) { $0 + $1.moveTime })
  }

  private func decide(on image: BootedImage) throws(FlashFault) -> Decision {
    let loader = image.loader
    var record = try loader.newestRecord() ?? image.record
    for slot in record.images.indices {
      record.images[slot] = try described(slot: slot, of: image.layout)
    }
    if record.isPending || settings.mode.hasFixedSlots {
      try dropUnsound(slot: record.inactive, of: image.layout)
    }
    let old = record.active
    let wasOnTrial = record.isOnTrial && !record.isPending
    let outcome =
      settings.mode.choosesByVersion
      ? try chooseByVersion(&record, loader) : try chooseByMark(&record, loader)
    if outcome == .activated, parts.settings.faults.contains(.otherImage) {
      record.images[record.active].version = FirmwareVersion(0, 0, 1)
    }
    let isMoved = outcome == .activated || wasOnTrial && record.active != old
    return Decision(
      image: BootedImage(loader: loader, record: record), isActivated: outcome == .activated,
      moveTime: isMoved
        ? loader.exchangeTime(
          record.images[record.active], movesPerPage: settings.mode.movesPerPage) : .zero)
  }

  /// Returns the image in a slot if MCUboot would start it; otherwise an empty image.
  private func described(slot: Int, of layout: FlashLayout) throws(FlashFault) -> SlotImage {
    let start = layout.slot(slot)
    let bytes = try parts.flash.read(start..<start + parts.settings.slotSize)
    guard let image = BootableImage(decoding: bytes[...]), isStartable(image, in: bytes) else {
      return SlotImage()
    }
    let version = image.version
    return SlotImage(
      size: UInt32(image.fileBytes), crc32: CRC32.checksum(bytes[..<image.fileBytes]),
      version: FirmwareVersion(version.major, version.minor, version.revision),
      hardware: parts.settings.hardware)
  }

  func isStartable(_ image: BootableImage, in bytes: [UInt8]) -> Bool {
    var rules = rules
    if factoryHashes.contains(image.hash) { rules.key = nil }
    return image.isStartable(in: bytes[...], by: rules)
  }

  /// Erases the first page of a slot whose header is bootable, but whose image MCUboot would not
  /// start, as MCUboot does, so that the image is no longer listed.
  private func dropUnsound(slot: Int, of layout: FlashLayout) throws(FlashFault) {
    let start = layout.slot(slot)
    let bytes = try parts.flash.read(start..<start + parts.settings.slotSize)
    guard let header = BootableImage.Header(decoding: bytes), header.isBootable else { return }
    if let image = BootableImage(decoding: bytes[...]), isStartable(image, in: bytes) { return }
    try parts.flash.perform(.erase(page: start))
  }

  /// Selects the slot by the mark of the image: pending on trial, or pending permanently.
  private func chooseByMark(
    _ record: inout BootRecord, _ loader: Bootloader
  ) throws(FlashFault) -> Bootloader.Outcome {
    if record.isSkipped {
      (record.isPending, record.isPermanent, record.isSkipped) = (false, false, false)
      record = try loader.storeNext(record)
      return .normal
    }
    if record.isPending, settings.forbidsDowngrade,
      record.images[record.inactive].version < record.images[record.active].version
    {
      record.images[record.inactive] = SlotImage()
    }
    let needsConfirmation = settings.mode.reverts && !record.isPermanent
    let outcome: Bootloader.Outcome
    (record, outcome) = try loader.boot(
      record, faults: parts.settings.faults, startsOnTrial: needsConfirmation)
    return outcome
  }

  /// Selects the slot with the higher version; keeps the active slot if both versions are equal.
  private func chooseByVersion(
    _ record: inout BootRecord, _ loader: Bootloader
  ) throws(FlashFault) -> Bootloader.Outcome {
    let other = record.images[record.inactive]
    let current = record.images[record.active]
    guard other.size > 0, current.size == 0 || other.version > current.version else {
      return .normal
    }
    let faults = parts.settings.faults
    guard !faults.contains(.reverts), !faults.contains(.comesBackOld) else { return .normal }
    record.active = record.inactive
    record = try loader.storeNext(record)
    return .activated
  }

  // MARK: From the programs

  /// Starts the SMP server of the bootloader or the firmware loader, instead of the application, at
  /// the next boot. Has no effect in modes in which the application receives updates.
  func enterRecovery() { state.withLock { $0.entersRecovery = true } }

  /// Marks the image that the OTA service has written.
  func markPending(_ image: SlotImage) throws(FlashFault) {
    let application = state.withLock { $0.images[0] }
    var next = try application.loader.newestRecord() ?? application.record
    next.markPending(image)
    next.isPermanent = !settings.mode.reverts
    _ = try application.loader.storeNext(next)
  }

  func store(_ record: BootRecord) throws(FlashFault) {
    try state.withLock { $0.images[0] }.loader.store(record)
  }

  /// Keeps the state of a server for the next boot.
  ///
  /// - Parameter isPowered: whether the device had power without interruption, so that the clock
  ///   keeps its time.
  func keep(_ server: SMPServer, isPowered: Bool) {
    state.withLock {
      $0.misbehavior = server.misbehavior
      $0.loaderName = server.savedName
      $0.store = server.store
      $0.realTimeClock = isPowered ? server.realTimeClock : nil
    }
  }
}
