import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashWire

/// MCUmgr's Simple Management Protocol on one connection. A session sends an MCUboot image to the
/// inactive slot (README.md in this folder describes the sequence).
struct SMPSession: UpdateSession {
  static let updateProtocol = UpdateProtocol.smp
  static let services = [SMPService.service]

  let channel: SMPChannel
  let context: UpdateContext
  private let retained: RetainedState<SMPRetained>
  let facts: SMPFacts
  let device: DeviceReport

  /// An interrupted update may have left the device in its firmware loader.
  static let places: [DeviceLocation] = [.home, .flippedAddress]

  static func takes(_ image: FirmwareImage) -> Bool { image.mcuboot != nil }

  static func open(
    on client: GATTClient, _ context: UpdateContext, _ retained: RetainedState<SMPRetained>
  ) async throws(UpdateFault) -> SMPSession {
    let channel: SMPChannel
    do throws(UpdateFault) { channel = try await SMPChannel(on: client, context) } catch {
      guard case .noUpdateService = error, context.place != .home else { throw error }
      throw .otherDevice
    }
    let tries =
      context.tally.wasConnected ? SMPFacts.triesOfBusyServer : SMPChannel.triesDefault
    var facts = try await SMPFacts(asking: channel, tries: tries)
    facts.stateWrite = retained.value.stateWrite
    guard facts.isExpected(at: context.place, afterActivation: context.hasActivated) else {
      throw .otherDevice
    }
    return SMPSession(channel: channel, facts: facts, context: context, retained: retained)
  }

  private init(
    channel: SMPChannel, facts: SMPFacts, context: UpdateContext,
    retained: RetainedState<SMPRetained>
  ) {
    self.channel = channel
    self.context = context
    self.retained = retained
    self.facts = facts
    device = DeviceReport(facts, version: channel.version)
  }

  /// The possible locations of the bootloader. A recovery server in the bootloader keeps the
  /// device's address.
  var bootloaderPlaces: [DeviceLocation] {
    guard facts.mustLeaveApplication else { return [] }
    return facts.mode == .firmwareLoader ? SMPFirmwareLoader.places(retained.value) : [.home]
  }

  func placesAfterActivation(of images: [FirmwareImage]) -> [DeviceLocation] {
    guard facts.isLoader else { return [.home] }
    return images.contains { $0.installer != nil }
      ? SMPFirmwareLoader.places(retained.value) : [.home, .flippedAddress]
  }

  /// Whether the server keeps an interrupted upload. The firmware loader discards the upload,
  /// because the loader restarts at the end of each connection.
  var keepsProgress: Bool { !facts.isLoader }

  func detach() async throws(UpdateFault) {
    if facts.mode == .firmwareLoader {
      try await SMPFirmwareLoader.setName(over: channel, context, retained)
    }
    _ = try await channel.perform(SMPOS.Reset(bootMode: SMPOS.Reset.bootloader), .detach)
  }

  func check(_ image: FirmwareImage) throws(UpdateFault) -> Preflight {
    try facts.check(image, options: context.options)
  }

  // MARK: After the upload

  /// Always `false`: a server lists any data in the form of an image, and only the bootloader
  /// checks that the image is complete.
  var provesHeldImages: Bool { false }

  /// Verifies that the server lists the image, which shows that flash contains data in the form of
  /// the image. Only the bootloader checks all bytes.
  func verify(_ image: FirmwareImage) async throws(UpdateFault) -> UpdateVerdict {
    let state = try await channel.perform(SMPImage.ReadState(), .verify)
    guard state.received(image) != nil else {
      throw .declined(.verify, .notListed)
    }
    return .verified
  }

  func activate(
    _ images: [FirmwareImage], keeping current: [FirmwareImage]
  ) async throws(UpdateFault) {
    // If no image is active, the server is part of the bootloader, which starts the received image.
    if facts.mode.needsTest, facts.state.slots.contains(where: { $0.flags.contains(.active) }) {
      let state = try await channel.perform(SMPImage.ReadState(), .activate)
      for image in current where facts.mode.reverts && state.isOnTrial(image.place.imageIndex) {
        try await confirm(image, .activate)
      }
      guard try await mark(images, state) else {
        // The bootloader selects the image by version. The result is read after the restart.
        retained.update { $0.stateWrite = .missing }
        return try await restart()
      }
    }
    try await restart()
  }

  private func restart() async throws(UpdateFault) {
    _ = try await channel.perform(SMPOS.Reset(), .activate)
  }

  /// Marks the images for the next start, with the application (image 0) last. MCUboot of nRF
  /// Connect SDK 2.6.0 to 3.4.0 skips the network core's image if the application's image was
  /// marked before it (Nordic's known issue NCSDK-34106).
  ///
  /// - Returns: `false` if the server reports no mode of the bootloader, and does not support the
  ///   command.
  private func mark(
    _ images: [FirmwareImage], _ state: SMPImage.State
  ) async throws(UpdateFault) -> Bool {
    let applicationLast =
      images.filter { $0.place.imageIndex != 0 } + images.filter { $0.place.imageIndex == 0 }
    // An earlier run may already have marked some images.
    for image in applicationLast
    where !(state.received(image)?.flags.contains(.pending) ?? false) {
      let result = try await channel.ask(
        SMPImage.WriteState(hash: image.mcuboot?.hash?.bytes, isConfirmed: false), .activate,
        within: Self.eraseLimit)
      guard case .failure(let refusal) = result else { continue }
      if refusal.isNotSupported, facts.bootloader.mode == nil { return false }
      throw .declined(.activate, refusal.inWords)
    }
    return true
  }

  /// Returns the time in which the bootloader moves the pages of both slots before the image runs,
  /// or in which an installer copies its contents. The number of pages follows from the sizes of
  /// the slots, if the device reports them. If the flash is slow, the upload was slow too, so the
  /// duration of the upload raises the result.
  func startTime(of images: [FirmwareImage]) -> Duration {
    let installed = images.compactMap(\.installer).flatMap(\.parts).map(\.size).reduce(0, +)
    guard facts.mode.movesPages else { return PageMoves.limit(forBytes: installed) }
    let limits = images.map { image in
      PageMoves.limit(
        forBytes: facts.largestFile(image.place.imageIndex) ?? image.mcuboot?.decompressedSize
          ?? image.bytes.count)
    }
    let tally = context.tally.now
    return max(
      limits.reduce(.zero, +), (tally.prepareTook + tally.uploadTook) * PageMoves.movesMaximum)
  }

  func running(expecting image: FirmwareImage) async throws(UpdateFault) -> RunningImage {
    let state = try await channel.perform(SMPImage.ReadState(), .confirm)
    if facts.isLoader {
      return RunningImage(version: nil, agreement: state.loaderAgreement(with: image))
    }
    return RunningImage(state, mode: facts.mode, expecting: image)
  }

  /// Confirms the running application without a hash: a confirmation by hash would permanently
  /// select the new image even if it was just reverted. Images other than the application are
  /// confirmed by their hashes.
  func confirm(_ image: FirmwareImage) async throws(UpdateFault) {
    try await confirm(image, .confirm)
  }

  private func confirm(_ image: FirmwareImage, _ stage: UpdateStage) async throws(UpdateFault) {
    let index = image.place.imageIndex
    // The hash of a decompressed image differs from the hash of its file.
    let running = facts.running(index).flatMap { $0.runs(image) == .same ? $0.hash : nil }
    let hash = index == 0 ? nil : running ?? image.mcuboot?.hash?.bytes
    _ = try await channel.perform(
      SMPImage.WriteState(hash: hash, isConfirmed: true), stage, within: Self.eraseLimit)
  }

  func abandon() async throws(UpdateFault) { try await channel.finishMessage() }
}

extension RunningImage {
  /// Finds the running image in the list of slots.
  init(_ state: SMPImage.State, mode: MCUbootMode, expecting image: FirmwareImage) {
    let index = image.place.imageIndex
    let slot = state.running(index)
    let agreement = slot?.runs(image) ?? .different
    // An image that was put on trial, but neither runs nor is pending, was reverted or refused.
    let other = state.slots(of: index).first { $0.slot != slot?.slot }
    let waits = other.map { $0.stores(image) != .different && $0.flags.contains(.pending) } ?? false
    self.init(
      version: (slot?.version).flatMap(MCUbootVersion.init)?.firmwareVersion,
      agreement: agreement,
      outcome: agreement != .different ? .activated : waits ? .normal : .rejected,
      isOnTrial: mode.reverts && state.isOnTrial(index))
    build = (slot?.version).flatMap(MCUbootVersion.init).flatMap { $0.build == 0 ? nil : $0.build }
  }
}

extension DeviceReport {
  init(_ facts: SMPFacts, version: SMPVersion) {
    self.init(.smp, protocolVersion: version == .v1 ? 1 : 2)
    isInBootloader = facts.isLoader
    let running = (facts.runningApplication(0)?.version).flatMap(MCUbootVersion.init)
    runningVersion = running?.firmwareVersion
    runningBuild = running?.build
    slotSize = facts.largestFile(0)
    bufferSize = facts.buffers.parameters?.bufferSize
    isOnTrial = facts.mode.reverts && facts.state.isOnTrial(0)
    details = .smp(
      SMPServerReport(
        slots: facts.state.slots.map(SlotReport.init),
        bufferCount: facts.buffers.parameters?.bufferCount,
        bootloaderMode: facts.bootloader.mode.map(MCUbootMode.init)))
  }
}
