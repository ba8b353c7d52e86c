import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware
import OtaflashUpdate

/// The resources of InfiniTime: fonts and pictures in the file system of the watch.
extension Flash {
  /// Returns the options of a transfer of resources.
  private var resourceOptions: UpdateOptions {
    var options = UpdateOptions()
    options.mtu = mtu.value
    options.startsOver = restart
    options.sendsAnyway = force
    options.isDryRun = dryRun
    return options
  }

  /// Sends a package of resources without firmware.
  func sendOnlyResources(in session: Session) async throws(CommandFault) -> Ending {
    let package = try ResourceSource.load(image)
    guard let device = target.device else {
      return try await DeviceChoice(for: ImageFit(package), session: session).ending()
    }
    let (destination, records) = try await resolve(device, in: session)
    let job = ResourceJob(
      package: package, destination: destination, limit: timeLimit?.duration, session: session)
    let outcome = try await job.run(resourceOptions)
    records.connected(destination, version: outcome.version)
    return device.ending(outcome.word(isDryRun: dryRun))
  }

  /// Sends firmware, and then its resources. The firmware is sent first, because a new firmware may
  /// format the file system, and because the old firmware may still need the obsolete files.
  func send(
    _ firmware: FirmwarePackage, _ resources: ResourcePackage,
    _ options: (update: UpdateOptions, bases: GivenBases?), to destination: ResolvedDevice,
    _ records: StateStore, in session: Session
  ) async throws(CommandFault) -> Ending {
    let limit = timeLimit?.duration
    let began = destination.clock.now
    return try await destination.serving { (device) async throws(CommandFault) in
      let result = try await send(firmware, options, to: device, records, in: session)
      session.updates.end(ok: true)
      report(result, of: firmware, in: session)
      let left = limit.map { max(.milliseconds(1), $0 - began.duration(to: device.clock.now)) }
      let job = ResourceJob(
        package: resources, destination: device, limit: left, session: session)
      _ = try await job.run(resourceOptions)
      if let next = result.next(in: session.context) { session.console.result("next:   " + next) }
      return Ending(
        exit: result.exit, outcome: result.outcome.rawValue,
        devices: [ending(of: result, firmware)])
    }
  }
}
