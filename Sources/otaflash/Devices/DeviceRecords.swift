import OtaflashFirmware
import OtaflashFleet
import OtaflashUpdate

/// What is kept on disk of the devices that this user flashes: who works on one now, what was
/// begun, what runs. History is never worth failing an update for: what cannot be written after
/// the lock was taken is noted, and the update goes on.
struct DeviceRecords: Sendable {
  let directory: StateDirectory
  let console: Console

  static func open(_ session: Session) throws(CommandFault) -> DeviceRecords {
    do throws(StateFault) {
      let directory = try StateDirectory.locate(environment: session.environment)
      try directory.create()
      return DeviceRecords(directory: directory, console: session.console)
    } catch {
      throw .state(error)
    }
  }

  func lock(_ device: String) throws(CommandFault) -> DeviceLock {
    do throws(StateFault) {
      return try DeviceLock(device: device, in: directory)
    } catch {
      throw .state(error)
    }
  }

  func devices() throws(CommandFault) -> [DeviceRecord] {
    do throws(StateFault) {
      let recalled = try RegistryFile(in: directory).load()
      if let path = recalled.setAside { console.note("the damaged list of devices is now \(path)") }
      return recalled.content?.records ?? []
    } catch {
      throw .state(error)
    }
  }

  func seen(_ sightings: [Sighting]) {
    let now = Timestamp.secondsSince1970()
    change { registry in
      for sighting in sightings {
        let address = sighting.address.description
        registry.seen(address, name: sighting.name, address: address, at: now)
      }
    }
  }

  func connected(_ device: Destination) {
    let now = Timestamp.secondsSince1970()
    change {
      $0.connected(device.identity, name: device.name, address: device.address, at: now)
    }
  }

  func flashed(
    _ device: Destination, outcome: DeviceRecord.Flashing.Outcome, version: FirmwareVersion?
  ) {
    let now = Timestamp.secondsSince1970()
    change { registry in
      registry.connected(device.identity, name: device.name, address: device.address, at: now)
      registry.flashed(
        device.identity, DeviceRecord.Flashing(outcome: outcome, version: version, at: now))
    }
  }

  private func change(_ change: (inout DeviceRegistry) -> Void) {
    attempt(orNote: "the list of devices was not kept") { () throws(StateFault) in
      if let path = try RegistryFile(in: directory).update(change) {
        console.note("the damaged list of devices is now \(path)")
      }
    }
  }

  /// Whether `body` worked; when it did not, the user is told `failure`, and why.
  @discardableResult
  func attempt(orNote failure: String, _ body: () throws(StateFault) -> Void) -> Bool {
    do throws(StateFault) {
      try body()
      return true
    } catch {
      console.note("note: \(failure): \(error)")
      return false
    }
  }
}
