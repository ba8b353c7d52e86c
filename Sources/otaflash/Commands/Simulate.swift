import ArgumentParser
import Glibc
import OtaflashBlueZ
import OtaflashGATT
import OtaflashSimulation

/// A device to flash, as a process of its own.
struct Simulate: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Be a device: listen on a socket and take updates.",
    discussion: """
      The socket is reached with -d unix:PATH.

      A profile is a name and settings, such as \
      'fast?seed=7&loss=1%'; the names are:

      \(SimulationProfile.catalogue.map { "  \($0.name): \($0.summary)" }.joined(separator: "\n"))
      """)

  @Option(
    name: .long,
    help: ArgumentHelp("What kind of device; a name, or NAME?key=value&…", valueName: "profile"))
  var profile = "plain"

  @Option(
    name: .long, help: ArgumentHelp("The socket to listen on.", valueName: "path"),
    completion: .file())
  var listen: String?

  @Option(
    name: .long,
    help: ArgumentHelp("Keep the device's flash in this file.", valueName: "path"),
    completion: .file())
  var flashFile: String?

  @Flag(name: .long, help: "Serve one connection, then end.")
  var once = false

  @Flag(
    name: .long,
    help: "Start from the factory state; without --listen, only forget what sim: devices hold.")
  var reset = false

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    _ = try SimulatedDevice.profile(profile)
    guard listen != nil || reset else {
      throw ValidationError("Missing expected argument '--listen <path>'")
    }
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let profile: SimulationProfile
    do throws(ProfileFault) { profile = try SimulationProfile(parsing: self.profile) } catch {
      throw .simulation(error.sentence)
    }
    if reset { try forget(in: session) }
    guard let listen else { return .done("reset") }
    let storage = try flashFile.map { path throws(CommandFault) in
      try SimulatedDevice.file(path, for: profile)
    }
    let device = try SimulatedDevice(profile, storage: storage)
    let listener = try Self.listener(at: listen)
    session.console.event("listening", ["device": .string("unix:" + listen)])
    session.console.result("listening unix:" + listen)
    let result = await withTaskExecutorPreference(EventLoop.shared) {
      await device.run { await serve(listener, device, session) }
    }
    listener.close()
    do throws(ConnectFault) { try result.get() } catch { throw .connect(error) }
    return Ending(
      exit: session.interruption.signal.map { .signal($0) } ?? .done, outcome: "ended")
  }

  /// One connection after the other, as a device with one radio takes them.
  private func serve(
    _ listener: UnixListener, _ device: SimulatedDevice, _ session: Session
  ) async -> Result<Void, ConnectFault> {
    do throws(ConnectFault) {
      repeat {
        let host = try await listener.accept()
        session.console.note("connected", verbosity: 1)
        await serve(host, device, session)
        session.console.note("disconnected", verbosity: 1)
      } while !once && !Task.isCancelled
      return .success(())
    } catch {
      return error == .cancelled ? .success(()) : .failure(error)
    }
  }

  private func serve(_ host: UnixLink, _ device: SimulatedDevice, _ session: Session) async {
    do throws(ConnectFault) {
      await LinkBridge(near: host, far: try await device.dial()).run()
    } catch {
      session.console.note("the device took no connection: \(error)", verbosity: 1)
      host.close()
    }
  }

  private static func listener(at path: String) throws(CommandFault) -> UnixListener {
    do throws(ConnectFault) { return try UnixListener(path: path) } catch {
      throw .connect(error)
    }
  }

  private func forget(in session: Session) throws(CommandFault) {
    let path: String
    if let flashFile {
      path = flashFile
    } else {
      path = try SimulatedDevice.flashPath(
        "sim:" + profile, in: DeviceRecords.open(session).directory)
    }
    guard unlink(path) == 0 || errno == ENOENT else {
      let failure = errno
      throw .simulation("\(path) cannot be removed: \(SystemError.text(failure))", errno: failure)
    }
  }
}
