import ArgumentParser
import OtaflashBlueZ
import OtaflashDevices
import OtaflashState

/// Forgets a pairing on this side.
struct Unpair: TargetedCommand {
  static let configuration = CommandConfiguration(
    commandName: "unpair",
    abstract: "Forget the keys of a pairing.",
    discussion: """
      The device is not told; it forgets this computer by its own means. A device that has \
      forgotten this computer must be forgotten here too before it can be paired again.
      """)

  @OptionGroup var target: DeviceOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: target.device.text) }

  func validate() throws {
    switch target.device.kind {
    case .address, .name, .alias, .last: return
    case .unix, .simulated:
      throw ValidationError(
        "'\(target.device.text)' is no address; a pairing is kept under the address")
    }
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let address = try await ResolvedDevice.address(of: target.device, in: session)
    let adapter = session.global.adapterNumber ?? 0
    // Before the kernel forgets the keys: what cannot be opened must not be half done.
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
