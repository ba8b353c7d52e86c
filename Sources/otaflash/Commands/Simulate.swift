import ArgumentParser
import Glibc
import OtaflashBlueZ
import OtaflashConsole
import OtaflashDevices
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Synchronization

/// Runs a simulated device in this process.
struct Simulate: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Simulate a device on a socket or a Bluetooth adapter.",
    discussion: """
      Connect to the socket with -d unix:PATH. With --adapter, the device is a real Bluetooth \
      peripheral with that adapter's address; this requires CAP_NET_ADMIN. If bluetoothd uses the \
      adapter as well, hosts connect to the program that was started last.

      A profile is a name with settings, such as 'fast?seed=7&loss=1%'. These names are available:

      \(SimulationProfile.catalogue.map { "  \($0.name): \($0.summary)" }.joined(separator: "\n"))

      The names from cut-at-pdu onward are faults. A value in parentheses is the fault's default. \
      You can also use faults as settings, as in 'smp?cut-at-pdu=300'. The other settings are:

      \(ProfileKey.allCases.map { "  \($0.rawValue): \($0.allowedValues)" }.joined(separator: "\n"))

      \(SimulationProfile.kinds.map(Self.settings).joined(separator: "\n\n"))
      """)

  /// Returns the settings of one kind of device.
  private static func settings(
    of kind: (name: String, keys: [KindKeyListing])
  ) -> String {
    "Only for '\(kind.name)':\n\n"
      + kind.keys.map { "  \($0.key): \($0.summary); \($0.allowed)" }.joined(separator: "\n")
  }

  @Option(
    name: .long,
    help: ArgumentHelp("The kind of device: a name, or NAME?key=value&…", valueName: "profile"))
  var profile = "plain"

  @Option(
    name: .long, help: ArgumentHelp("The socket to listen on.", valueName: "path"),
    completion: .file())
  var listen: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The name that the device advertises (default: the name of its kind).", valueName: "text"))
  var name: String?

  @Option(
    name: .long,
    help: ArgumentHelp("Store the device's flash in this file.", valueName: "path"),
    completion: .file())
  var flashFile: String?

  @Flag(name: .long, help: "Serve one connection, then exit.")
  var once = false

  @Flag(
    name: .long,
    help: """
      Start from the factory state. Without --listen, reset the flash of the sim: devices and \
      exit.
      """)
  var reset = false

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    let profile = try SimulationProfile.argument(profile)
    guard listen == nil || global.adapter == nil else {
      throw ValidationError("--listen and --adapter cannot be combined")
    }
    guard listen != nil || global.adapter != nil || reset else {
      throw ValidationError("Missing expected argument '--listen <path>' or '--adapter <hciN>'")
    }
    guard
      PeripheralAdvertising(
        name: name ?? profile.applicationName, service: profile.device.service) != nil
    else {
      throw ValidationError("--name must have 1 to \(PeripheralAdvertising.nameMaximum) bytes")
    }
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    var profile: SimulationProfile
    do throws(ProfileFault) { profile = try SimulationProfile(parsing: self.profile) } catch {
      throw .simulation("\(error)")
    }
    profile.givenName = name
    if reset { try forget(profile, in: session) }
    guard listen != nil || global.adapter != nil else { return .done("reset") }
    let storage = try flashFile.map { path throws(CommandFault) in
      try SimulatedDevice.file(path, for: profile)
    }
    let device = try SimulatedDevice(profile, storage: storage)
    let front = try await front(for: profile, in: session)
    session.console.event("listening", ["device": .string(front.selector)])
    session.console.result("listening \(front.selector)")
    let result = await withTaskExecutorPreference(EventLoop.shared) {
      await front.serve { await device.run { await serve(front, device, session) } }
    }
    front.close()
    do throws(ConnectFault) { try result.get() } catch { throw .connect(error) }
    return Ending(
      exit: session.interruption.signal.map { .signal($0) } ?? .done, outcome: "ended")
  }

  private func front(
    for profile: SimulationProfile, in session: Session
  ) async throws(CommandFault) -> any DeviceListener {
    if let listen { return try SocketListener(path: listen) }
    guard let adapter = global.adapterNumber,
      let advertisement = PeripheralAdvertising(
        name: profile.applicationName, service: profile.device.service)
    else { preconditionFailure("checked by validate") }
    return try await RadioListener(
      adapter: adapter, advertisement: advertisement,
      pairing: RadioPairing.deviceAgent(of: adapter, profile.security, in: session))
  }

  /// Serves one connection after the other, like a device with one radio.
  private func serve(
    _ front: any DeviceListener, _ device: SimulatedDevice, _ session: Session
  ) async -> Result<Void, ConnectFault> {
    do throws(ConnectFault) {
      repeat {
        let before = Mutex(device.counters)
        try await front.serveNext(device) {
          before.withLock { $0 = device.counters }
          session.console.note("connected", verbosity: 1)
        }
        Service(from: before.withLock { $0 }, to: device.counters).report(to: session.console)
      } while !once && !Task.isCancelled
      return .success(())
    } catch {
      return error == .cancelled ? .success(()) : .failure(error)
    }
  }

  private func forget(
    _ profile: SimulationProfile, in session: Session
  ) throws(CommandFault) {
    let path: String
    if let flashFile {
      path = flashFile
      try SimulatedDevice.checkIsFlash(path, of: profile)
    } else {
      path = try SimulatedDevice.flashPath(
        "sim:" + self.profile, in: StateStore.open(session).directory)
    }
    guard unlink(path) == 0 || errno == ENOENT else {
      let failure = errno
      throw .simulation("\(path) cannot be removed: \(SystemError.text(failure))", errno: failure)
    }
  }
}

/// The activity of a device during one connection.
private struct Service {
  let pdus: Int
  let pagesErased: Int
  let bytesWritten: Int

  init(from before: BoardCounters, to after: BoardCounters) {
    pdus = after.pdus - before.pdus
    pagesErased = after.flash.erases - before.flash.erases
    bytesWritten = after.flash.bytesWritten - before.flash.bytesWritten
  }

  func report(to console: Console) {
    console.event(
      "served",
      [
        "pdus": .integer(pdus), "pages_erased": .integer(pagesErased),
        "bytes_written": .integer(bytesWritten),
      ])
    console.note(
      "disconnected after \(pdus) PDUs; flash: \(pagesErased) pages erased, "
        + "\(Text.grouped(bytesWritten)) B written", verbosity: 1)
  }
}
