import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware
import OtaflashState
import OtaflashUpdate

/// The steps of `flash`, which `--watch` repeats.
extension Flash {
  /// Reads the file and checks it.
  func firmware(in session: Session) throws(CommandFault) -> FirmwarePackage {
    let firmware = try ImageSource.loadPackage(
      image, saying: identity.identity, in: addresses.region, session)
    try ImageSource.prove(firmware, signedBy: signer.key)
    try ImageSource.check(firmware, isFor: board.board)
    if !force { try ImageSource.checkContent(of: firmware) }
    return firmware
  }

  /// Returns the options of an update, and the base images that the user specified.
  func updateOptions(
    for firmware: FirmwarePackage, in session: Session
  ) throws(CommandFault) -> (update: UpdateOptions, bases: GivenBases?) {
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
    telink.apply(to: &options)
    suota.apply(to: &options)
    let given = try patches.base.map { path throws(CommandFault) in
      try GivenBases(path, in: addresses.region, session)
    }
    options.patches.prebuilt = try patches.patch.map { path throws(CommandFault) in
      try GivenPatch.load(path, for: firmware, madeOf: given?.onlyImage)
    }
    return (options, given)
  }

  /// Prints the images that will be sent.
  func announce(_ firmware: FirmwarePackage, in session: Session) {
    session.console.event(firmware)
    for part in firmware.parts {
      session.console.note(part.summary)
      if let note = part.encryptionNote { session.console.note("  " + note) }
      for note in part.leftOutNotes { session.console.note("  " + note) }
    }
    if let key = signer.key { session.console.note("  complete, signed with the key of \(key)") }
    session.updates.announce(targetVersion: firmware.versionName)
  }

  func resolve(
    _ device: DeviceSelector, in session: Session
  ) async throws(CommandFault) -> (ResolvedDevice, StateStore) {
    let destination = try await ResolvedDevice.resolve(
      device, in: session, tuning: link.tuning(else: .flashing),
      isTuningExplicit: link.asksForSomething)
    return (destination, try StateStore.open(session))
  }

  /// Performs one update, and stores its result in the records of the device.
  func send(
    _ firmware: FirmwarePackage, _ options: (update: UpdateOptions, bases: GivenBases?),
    to destination: ResolvedDevice, _ records: StateStore, in session: Session,
    observing observe: @escaping @Sendable (UpdateEvent) -> Void = { _ in }
  ) async throws(CommandFault) -> UpdateResult {
    var update = options.update
    update.patches.bases = records.bases(besides: options.bases)
    let lock = try destination.lock()
    let notebook = JournalWriter(firmware, on: destination, in: records)
    let job = FlashJob(
      package: firmware, destination: destination, notebook: notebook, limit: timeLimit?.duration,
      session: session, observe: observe)
    if !restart { noteEarlier(notebook.earlier(), firmware, session) }
    let result: UpdateResult
    do throws(CommandFault) {
      result = try await job.run(update)
    } catch {
      guard let question = Self.question(after: error), Question.ask(question, in: session) else {
        throw failed(error, firmware, destination, records)
      }
      update.allowsDowngrade = true
      result = try await job.run(update)
    }
    lock.release()
    switch result.outcome {
    case .flashed, .restarted:
      records.flashed(destination, outcome: .flashed, version: result.to)
    case .alreadyCurrent: records.connected(destination, version: result.to ?? result.from)
    case .wouldFlash: records.connected(destination, version: result.from)
    }
    if result.proof == .readBack { records.keep(firmware) }
    return result
  }

  /// Returns the question for a refusal that the user may override; `nil` for other faults.
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
    guard let entry else { return }
    // The number of bytes acknowledged at the time of the interruption. The device reports the
    // resume offset later.
    let share = "about \(Text.grouped(entry.acknowledged)) of \(Text.grouped(entry.imageSize)) B"
    session.console.note(
      entry.imageCRC32 == firmware.crc32
        ? "  an earlier run was interrupted after \(share)"
        : "  an earlier run was sending \(entry.imageName) (\(share)); this run starts over")
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

  func report(_ result: UpdateResult, of firmware: FirmwarePackage, in session: Session) {
    let name = firmware.version.flatMap { version in firmware.versionName.map { (version, $0) } }
    session.console.result(
      result.sentence(in: session.console.settings.outputStyle, naming: name))
    if let warning = result.warning { session.console.result(warning) }
  }

  func ending(of result: UpdateResult, _ firmware: FirmwarePackage) -> Ending.Device {
    Ending.Device(id: target.device?.text ?? "", result, of: firmware)
  }
}
