import ArgumentParser
import OtaflashBlueZ
import OtaflashDevices
import OtaflashState

/// Removes a pairing on the host.
struct Unpair: TargetedCommand {
  static let configuration = CommandConfiguration(
    commandName: "unpair",
    abstract: "Forget the keys of a pairing.",
    discussion: """
      The device is not notified; also remove the pairing on the device. A device that has lost \
      its keys can be paired again only after this command.
      """)

  @OptionGroup var target: DeviceOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: target.device.text) }

  func validate() throws {
    switch target.device.kind {
    case .address, .name, .alias, .last: return
    case .unix, .simulated:
      throw ValidationError(
        "'\(target.device.text)' is not an address; pairings are stored by address")
    }
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let address = try await ResolvedDevice.address(of: target.device, in: session)
    let adapter = session.global.adapterNumber ?? 0
    // The store is opened before the kernel removes the keys, so that a failure changes nothing.
    let records = try StateStore.open(session)
    let inKernel: PairingRemoval
    do throws(MgmtFault) {
      inKernel = try await PairingRemoval.perform(address, adapter: adapter)
    } catch {
      throw .survey(error)
    }
    let wasKept: Bool
    do throws(StateFault) {
      wasKept = try BondFiles(in: records.directory).forget(address, of: inKernel.adapter)
    } catch {
      throw .state(error)
    }
    let outcome = wasKept || inKernel.wasPaired ? "forgotten" : "not-paired"
    session.console.result(
      outcome == "forgotten" ? "forgotten  \(address)" : "not paired  \(address)")
    return .done(outcome, devices: [Ending.Device(id: target.device.text, outcome: outcome)])
  }
}
