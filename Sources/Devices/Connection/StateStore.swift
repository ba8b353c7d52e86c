import OtaflashConsole
import OtaflashFirmware
import OtaflashState
import OtaflashUpdate

/// The state on disk of the devices that this user updates: locks, unfinished updates, running
/// versions. A failed write never fails an update: after the lock was acquired, the failure is
/// reported as a note, and the update continues.
package struct StateStore: Sendable {
  package let directory: StateDirectory
  package let console: Console

  package init(of session: Session) throws(StateFault) {
    self.init(try StateDirectory.locate(environment: session.environment), session.console)
    try directory.create()
  }

  private init(_ directory: StateDirectory, _ console: Console) {
    self.directory = directory
    self.console = console
  }

  /// Returns the records for a command that only reads them: no directory is created, so a
  /// read-only file system is sufficient.
  package static func reading(_ session: Session) throws(CommandFault) -> StateStore {
    do throws(StateFault) {
      return StateStore(
        try StateDirectory.locate(environment: session.environment), session.console)
    } catch {
      throw .state(error)
    }
  }

  package static func open(_ session: Session) throws(CommandFault) -> StateStore {
    do throws(StateFault) { return try StateStore(of: session) } catch { throw .state(error) }
  }

  package func devices() throws(CommandFault) -> [DeviceRecord] {
    do throws(StateFault) {
      let recalled = try RegistryFile(in: directory).load()
      console.note("list of devices", setAside: recalled.setAside)
      return recalled.content?.records ?? []
    } catch {
      throw .state(error)
    }
  }

  package func aliases() throws(CommandFault) -> DeviceAliases {
    do throws(StateFault) {
      let recalled = try AliasFile(in: directory).load()
      console.note("list of aliases", setAside: recalled.setAside)
      return recalled.content ?? DeviceAliases()
    } catch {
      throw .state(error)
    }
  }

  /// Gives a device an alias. Returns the previous alias; `nil` if the device had no alias, or
  /// already had this alias.
  package func name(_ device: String, _ alias: DeviceAlias) throws(CommandFault) -> DeviceAlias? {
    let result = try change { aliases -> Result<DeviceAlias?, DeviceAliases.Fault> in
      do throws(DeviceAliases.Fault) { return .success(try aliases.name(device, alias)) } catch {
        return .failure(error)
      }
    }
    do throws(DeviceAliases.Fault) { return try result.get() } catch {
      throw .aliasRefused(alias.description, error)
    }
  }

  package func unname(_ alias: DeviceAlias) throws(CommandFault) {
    _ = try change { $0.remove(alias) }
  }

  private func change<Value>(
    _ change: (inout DeviceAliases) -> Value
  ) throws(CommandFault) -> Value {
    do throws(StateFault) {
      let (value, setAside) = try AliasFile(in: directory).update(change)
      console.note("list of aliases", setAside: setAside)
      return value
    } catch {
      throw .state(error)
    }
  }

  /// Returns the device that the user chose last; `nil` if the user has chosen none.
  package func lastChosen() throws(CommandFault) -> DeviceRecord? {
    DeviceRegistry(try devices()).lastChosen
  }

  package func chosen(_ id: String) {
    let now = Timestamp.secondsSince1970()
    change { $0.chosen(id, at: now) }
  }

  package func seen(_ sightings: [ScanResult]) {
    let now = Timestamp.secondsSince1970()
    change { registry in
      for sighting in sightings {
        registry.seen(
          sighting.id, name: sighting.name, address: sighting.address?.description, at: now)
      }
    }
  }

  /// Records a connection to a device.
  ///
  /// - Parameter version: the version that the device reported.
  package func connected(_ device: ResolvedDevice, version: FirmwareVersion? = nil) {
    let now = Timestamp.secondsSince1970()
    change {
      $0.connected(
        device.identity, name: device.name, address: device.address, version: version, at: now)
    }
  }

  package func flashed(
    _ device: ResolvedDevice, outcome: DeviceRecord.Flashing.Outcome, version: FirmwareVersion?
  ) {
    let now = Timestamp.secondsSince1970()
    change { registry in
      registry.connected(device.identity, name: device.name, address: device.address, at: now)
      registry.flashed(
        device.identity, DeviceRecord.Flashing(outcome: outcome, version: version, at: now))
    }
  }

  /// Stores the results of a campaign.
  ///
  /// - Returns: whether the results were stored.
  @discardableResult
  package func noteCampaign(_ devices: [DeviceRecord]) -> Bool { change { $0.add(devices) } }

  @discardableResult
  private func change(_ change: (inout DeviceRegistry) -> Void) -> Bool {
    let kept: Void? = console.attempt(orNote: "the list of devices was not saved") {
      () throws(StateFault) in
      console.note(
        "list of devices", setAside: try RegistryFile(in: directory).update(change))
    }
    return kept != nil
  }
}

extension Console {
  /// Returns the result of `body`. If `body` throws, prints a note with `failure` and the reason,
  /// and returns `nil`.
  @discardableResult
  package func attempt<Value>(
    orNote failure: String, verbosity: Int = 0, _ body: () throws(StateFault) -> Value
  ) -> Value? {
    do throws(StateFault) {
      return try body()
    } catch {
      note("note: \(failure): \(error)", verbosity: verbosity)
      return nil
    }
  }

  /// Reports a damaged file that was renamed.
  package func note(_ what: String, setAside path: String?) {
    if let path { note("the damaged \(what) is now \(path)") }
  }
}
