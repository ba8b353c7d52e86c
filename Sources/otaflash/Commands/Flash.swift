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

      With --watch, each new build of the file is flashed until Ctrl-C is pressed. A build counts \
      when it is complete and valid; other builds are reported and skipped. With --monitor, the \
      console of the device is shown after the update, and while --watch waits; see otaflash \
      console.

      --resources stores the fonts and pictures of InfiniTime in the watch after the firmware. \
      The package of resources can also be given in place of the image. Each file is read back; \
      files that the watch has already are not sent again.
      """)

  private static let formats = (FirmwareImage.Format.allCases.map(\.row.title) + ["ZIP package"])
    .listed(before: "or")

  @Argument(
    help: """
      The firmware file (\(Self.formats)), or - for standard \
      input.
      """,
    completion: .file()
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

  @Flag(name: .long, help: "Wait for each new build of the file, and flash it.")
  var watch = false

  @Flag(name: .long, help: "Show the console of the device after the update.")
  var monitor = false

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The package with the resources of InfiniTime, sent after the firmware.",
      valueName: "file"),
    completion: .file())
  var resources: String?

  @OptionGroup var console: ConsoleOptions
  @OptionGroup var patches: DeltaOptions
  @OptionGroup var telink: TelinkArguments
  @OptionGroup var suota: SUOTAArguments
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
      + [keyFile, signer.key, patches.base, patches.patch, resources].compactMap(\.self)
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
    guard monitor || !console.isUsed else {
      throw ValidationError("--channel, --characteristic and --log require --monitor")
    }
    guard !watch || image != ImageFile.standardInput else {
      throw ValidationError("--watch requires a file; standard input has no builds")
    }
    guard resources == nil || !(watch || monitor) else {
      throw ValidationError("--resources cannot be combined with --watch or --monitor")
    }
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    guard target.device != nil || image != ImageFile.standardInput else {
      return try await DeviceChoice(for: nil, session: session).ending()
    }
    if watch, let device = target.device {
      return try await FlashLoop(command: self, session: session).run(on: device)
    }
    if resources == nil, !monitor, ResourceSource.recognizes(image) {
      return try await sendOnlyResources(in: session)
    }
    let firmware = try firmware(in: session)
    let resources = try resources.map { path throws(CommandFault) in
      try ResourceSource.load(path)
    }
    guard let device = target.device else {
      return try await DeviceChoice(for: ImageFit(firmware), session: session).ending()
    }
    let options = try updateOptions(for: firmware, in: session)
    announce(firmware, in: session)
    let console = try monitor ? ConsoleRun(console, in: session) : nil
    let (destination, records) = try await resolve(device, in: session)
    if let resources {
      return try await send(firmware, resources, options, to: destination, records, in: session)
    }
    guard let console else {
      let result = try await send(firmware, options, to: destination, records, in: session)
      report(result, of: firmware, in: session)
      if let next = result.next(in: session.context) { session.console.result("next:   " + next) }
      return Ending(
        exit: result.exit, outcome: result.outcome.rawValue,
        devices: [ending(of: result, firmware)])
    }
    return try await destination.serving { (device) async throws(CommandFault) in
      let result = try await send(firmware, options, to: device, records, in: session)
      session.updates.end(ok: true)
      report(result, of: firmware, in: session)
      try await console.run(on: device)
      return Ending(
        exit: session.interruption.signal.map { .signal($0) } ?? result.exit,
        outcome: result.outcome.rawValue, devices: [ending(of: result, firmware)])
    }
  }
}
