import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashGATT
import OtaflashUpdate

/// Restarts a device over SMP.
struct Reset: TargetedCommand {
  static let takesSimulatedAir = true
  static let configuration = CommandConfiguration(
    commandName: "reset",
    abstract: "Restart a device with SMP.",
    discussion: """
      The restart starts an image that is marked for a trial, and reverts an image on trial that \
      is not confirmed.
      """)

  @Flag(name: .long, help: "Restart even if the application reports that it is busy.")
  var force = false

  @Flag(name: .long, help: "Start the bootloader's recovery mode instead of the application.")
  var bootloader = false

  @OptionGroup var target: DeviceOption
  @OptionGroup var capture: CaptureOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: target.device.text) }
  var captureFile: OutputFile? { capture.file }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let destination = try await ResolvedDevice.resolve(target.device, in: session)
    let lock = try destination.lock()
    let reset = SMPReset(isForced: force, toBootloader: bootloader)
    let fault = await destination.withDevice { () async -> UpdateFault? in
      do throws(UpdateFault) {
        try await reset.run(on: destination.dialer, clock: destination.clock)
        return nil
      } catch {
        return error
      }
    }
    lock.release()
    if let fault { throw .update(fault) }
    session.console.result("\(target.device.text) restarts")
    return .done(
      "restarted", devices: [Ending.Device(id: target.device.text, outcome: "restarted")])
  }
}
