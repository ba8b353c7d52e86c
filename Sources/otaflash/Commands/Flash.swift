import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware
import OtaflashGATT
import OtaflashState
import OtaflashUpdate

extension WriteMode: ExpressibleByArgument {}

/// Sends an image to one device and verifies that it runs.
struct Flash: DeviceCommand {
  static let takesSimulatedAir = true
  static let configuration = CommandConfiguration(
    commandName: "flash",
    abstract: "Send an image to a device, start it, and verify that it runs.",
    discussion: """
      To resume an interrupted update, run the same command again; it continues at the offset \
      that the device reports.

      Without a device, the terminal shows the devices in range. Choose one with the arrow keys \
      (or j, k and digits); Enter flashes it, and q or Escape quits. In a script, or with --json, \
      --quiet or --no-input, the error message lists the devices instead.
      """)

  private static let formats = (FirmwareImage.Format.allCases.map(\.row.title) + ["ZIP package"])
    .listed(before: "or")

  @Argument(
    help: """
      The firmware file (\(Self.formats)), or - for standard \
      input.
      """
  )
  var image: String

  @OptionGroup var target: ChoosableDeviceOption
  @OptionGroup var signer: SignerOption
  @OptionGroup var identity: IdentityOptions
  @OptionGroup var addresses: RegionOption
  @OptionGroup var board: ImageTargetOptions

  @OptionGroup var updateProtocol: ProtocolOption

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The write mode: auto (fills the connection events, with a checkpoint in each window), "
        + "with-response or without-response.", valueName: "mode"))
  var mode = WriteMode.auto

  @Option(name: .long, help: "The ATT_MTU to request, 23 to 517 bytes.")
  var mtu: WholeNumber = 512

  @Option(
    name: .long,
    help: ArgumentHelp("Image bytes per data write (default: as many as fit).", valueName: "size"),
    transform: ByteCount.parse)
  var chunk: ByteCount?

  @Option(
    name: .long,
    help: ArgumentHelp("The file with the device's key.", valueName: "path"),
    completion: .file())
  var keyFile: String?

  @Flag(name: .long, help: "Send an image that is older than the running image.")
  var allowDowngrade = false

  @Flag(name: .long, help: "Send an image for other hardware.")
  var allowOtherHardware = false

  @Flag(name: .long, help: "Send an image without a known version or hardware.")
  var allowUnknown = false

  @Flag(name: .long, help: "Run all checks, but send nothing.")
  var dryRun = false

  @Flag(name: .long, help: "Discard the data of an earlier transfer, and start again.")
  var restart = false

  @Flag(
    name: .long,
    help: """
      Send the image even if the device already runs it, or if the file does not look like \
      firmware.
      """)
  var force = false

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Stop after this time; the same command resumes the transfer if the device keeps the data.",
      valueName: "time"),
    transform: TimeSpan.parse)
  var timeLimit: TimeSpan?

  @OptionGroup var patches: DeltaOptions
  @OptionGroup var link: LinkOptions
  @OptionGroup var notification: NotifyOption
  @OptionGroup var capture: CaptureOption
  @OptionGroup var global: GlobalOptions

  var device: DeviceSelector? {
    get { target.device }
    set { target.device = newValue }
  }
  var subject: Subject { Subject(device: target.device?.text, image: image) }
  var notifies: Bool { notification.notify }
  var captureFile: OutputFile? { capture.file }
  var inputFiles: [String] {
    ImageSource.files(of: image)
      + [keyFile, signer.key, patches.base, patches.patch].compactMap(\.self)
  }

  private static let mtuRange = 23...517
  private static let chunkRange = 1...512

  func validate() throws {
    try target.device?.check(link)
    guard Self.mtuRange.contains(mtu.value) else {
      throw ValidationError("--mtu \(mtu.value) is out of range; specify 23 to 517")
    }
    if let chunk, !Self.chunkRange.contains(chunk.bytes) {
      throw ValidationError("--chunk \(chunk.bytes) is out of range; specify 1 to 512")
    }
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    guard target.device != nil || image != ImageFile.standardInput else {
      return try await DeviceChoice(package: nil, session: session).ending()
    }
    let firmware = try ImageSource.loadPackage(
      image, saying: identity.identity, in: addresses.region, session)
    try ImageSource.prove(firmware, signedBy: signer.key)
    try ImageSource.check(firmware, isFor: board.board)
    if !force { try ImageSource.checkContent(of: firmware) }
    guard let device = target.device else {
      return try await DeviceChoice(package: firmware, session: session).ending()
    }
    var options = try updateOptions()
    let given = try patches.base.map { path throws(CommandFault) in
      try GivenBases(path, in: addresses.region, session)
    }
    options.patches.prebuilt = try patches.patch.map { path throws(CommandFault) in
      try GivenPatch.load(path, for: firmware, madeOf: given?.onlyImage)
    }
    session.console.event(firmware)
    for part in firmware.parts {
      session.console.note(part.summary)
      if let note = part.encryptionNote { session.console.note("  " + note) }
      for note in part.leftOutNotes { session.console.note("  " + note) }
    }
    if let key = signer.key { session.console.note("  complete, signed with the key of \(key)") }
    session.updates.announce(targetVersion: firmware.versionName)
    let destination = try await ResolvedDevice.resolve(
      device, in: session, tuning: link.tuning(else: .flashing),
      isTuningExplicit: link.asksForSomething)
    let records = try StateStore.open(session)
    options.patches.bases = records.bases(besides: given)
    let lock = try destination.lock()
    let notebook = JournalWriter(firmware, on: destination, in: records)
    let job = FlashJob(
      package: firmware, destination: destination, notebook: notebook, limit: timeLimit?.duration,
      session: session)
    noteEarlier(notebook.earlier(), firmware, session)
    let result: UpdateResult
    do throws(CommandFault) {
      result = try await job.run(options)
    } catch {
      guard let question = Self.question(after: error), Question.ask(question, in: session) else {
        throw failed(error, firmware, destination, records)
      }
      options.allowsDowngrade = true
      result = try await job.run(options)
    }
    lock.release()
    return finished(result, of: firmware, destination, records, session)
  }

  /// The question for a refusal that the user may override.
  private static func question(after fault: CommandFault) -> String? {
    switch fault {
    case .update(.downgrade(let running, let older)): "Replace \(running) with the older \(older)?"
    case .update(.olderBuild(let running, let older)): "Replace \(running) with the older \(older)?"
    default: nil
    }
  }

  private func noteEarlier(
    _ entry: UpdateJournal.Entry?, _ firmware: FirmwarePackage, _ session: Session
  ) {
    guard let entry, !restart else { return }
    // The number of bytes acknowledged at the time of the interruption. The device reports the
    // resume offset later.
    let share = "about \(Text.grouped(entry.acknowledged)) of \(Text.grouped(entry.imageSize)) B"
    session.console.note(
      entry.imageCRC32 == firmware.crc32
        ? "  an earlier run was interrupted after \(share)"
        : "  an earlier run was sending \(entry.imageName) (\(share)); this run starts over")
  }

  private func updateOptions() throws(CommandFault) -> UpdateOptions {
    var options = UpdateOptions()
    options.updateProtocol = updateProtocol.value.named
    options.mode = mode
    options.mtu = mtu.value
    options.chunk = chunk?.bytes
    if let keyFile { options.key = try KeyFile.key(at: keyFile) }
    options.patches.policy = patches.delta
    options.allowsDowngrade = allowDowngrade
    options.allowsOtherHardware = allowOtherHardware
    options.allowsUnknown = allowUnknown
    options.startsOver = restart
    options.sendsAnyway = force
    options.isDryRun = dryRun
    return options
  }

  /// Returns the fault after it was recorded in the list of devices.
  private func failed(
    _ fault: CommandFault, _ firmware: FirmwarePackage, _ destination: ResolvedDevice,
    _ records: StateStore
  ) -> CommandFault {
    if fault.reachedDevice {
      records.flashed(destination, outcome: .failed, version: firmware.version)
    }
    return fault
  }

  private func finished(
    _ result: UpdateResult, of firmware: FirmwarePackage, _ destination: ResolvedDevice,
    _ records: StateStore, _ session: Session
  ) -> Ending {
    switch result.outcome {
    case .flashed: records.flashed(destination, outcome: .flashed, version: result.to)
    case .alreadyCurrent: records.connected(destination, version: result.to ?? result.from)
    case .wouldFlash: records.connected(destination, version: result.from)
    }
    if result.proof == .readBack { records.keep(firmware) }
    let name = firmware.version.flatMap { version in firmware.versionName.map { (version, $0) } }
    session.console.result(
      result.sentence(in: session.console.settings.outputStyle, naming: name))
    if let warning = result.warning { session.console.result(warning) }
    if let next = result.next(in: session.context) { session.console.result("next:   " + next) }
    let device = Ending.Device(id: target.device?.text ?? "", result, of: firmware)
    return .done(result.outcome.rawValue, devices: [device])
  }
}
