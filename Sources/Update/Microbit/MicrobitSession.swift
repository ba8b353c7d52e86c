import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// Partial flashing of a micro:bit on one connection (README.md in this folder describes the
/// sequence).
struct MicrobitSession: UpdateSession {
  static let updateProtocol = UpdateProtocol.microbit
  static let services = [MicrobitService.service]
  /// A micro:bit V2 also offers Secure DFU, and V1 legacy DFU.
  static let alternatives: [UpdateProtocol] = [.nordicSecure, .nordicLegacy]

  let context: UpdateContext
  private let retained: RetainedState<MicrobitRetained>
  private let channel: MicrobitChannel
  private let state: MicrobitDevice

  static func takes(_ image: FirmwareImage) -> Bool { image.microbit != nil }

  static func open(
    on client: GATTClient, _ context: UpdateContext, _ retained: RetainedState<MicrobitRetained>
  ) async throws(UpdateFault) -> MicrobitSession {
    let channel: MicrobitChannel?
    let hasDFUOfV1: Bool
    do throws(GATTFault) {
      channel = try await MicrobitChannel.open(on: client, clock: context.clock)
      // V2 does not have this service.
      hasDFUOfV1 = try await client.services().contains { $0.uuid == MicrobitDFU.service }
    } catch {
      throw .gatt(.connect, error)
    }
    guard let channel else { throw .noUpdateService }
    let state = try await MicrobitDevice.read(over: channel, hasDFUOfV1: hasDFUOfV1)
    retained.update { $0.modeBefore = $0.modeBefore ?? state.mode }
    return MicrobitSession(context: context, retained: retained, channel: channel, state: state)
  }

  var device: DeviceReport { DeviceReport(Self.updateProtocol, protocolVersion: 1) }

  // MARK: Before the transfer

  /// Leaves the update to the bootloader, which replaces runtime and script, if sending only the
  /// script is not possible.
  func preference(for images: [FirmwareImage]) throws(UpdateFault) -> ProtocolPreference {
    let isPossible = images.allSatisfy { image in
      (image.microbit?.program(for: state.board)?.script).map(state.hasRuntime) ?? false
    }
    return isPossible ? .keep : .leave(because: nil)
  }

  /// Compares the runtime. A script runs only with the runtime for which it was compiled.
  func check(_ image: FirmwareImage) throws(UpdateFault) -> Preflight {
    let (program, script) = try script(of: image)
    if state.runs(script), !context.options.sendsAnyway { return .alreadyCurrent }
    let hasStarted = !state.runtime.isKnown && retained.value.runtimeHash == script.runtimeHash
    guard state.hasRuntime(of: script) || hasStarted else {
      throw .declined(.prepare, .microbitRuntimeDiffers)
    }
    let bytes = program.bytes(of: script)
    guard hasStarted || bytes.count <= state.scriptRoom else {
      throw .doesNotFit(imageSize: bytes.count, slotSize: state.scriptRoom)
    }
    let part = FirmwareImage(
      name: image.name, format: image.format, bytes: bytes, version: image.version,
      hardware: image.hardware, content: image.content)
    return .send(UpdatePlan(image: part, version: image.version ?? .unknown))
  }

  /// Returns the program for the board, and its script.
  private func script(
    of image: FirmwareImage
  ) throws(UpdateFault) -> (MicrobitProgram, MicrobitScript) {
    guard let content = image.microbit else { throw .imageNotTaken(by: [Self.updateProtocol]) }
    guard let program = content.program(for: state.board) else {
      throw .declined(.prepare, .microbitProgramMissing(for: state.board))
    }
    guard let script = program.script else { throw .declined(.prepare, .microbitScriptMissing) }
    return (program, script)
  }

  // MARK: To pairing mode

  /// The device keeps its address.
  var bootloaderPlaces: [DeviceLocation] { state.mode == .application ? [.home] : [] }

  /// Restarts the device into pairing mode, in which no program uses the memory of the script.
  func detach() async throws(UpdateFault) { try await channel.send(.restart(.pairing), .detach) }

  // MARK: The transfer

  /// An interrupted transfer starts over: the device does not report which blocks it has written.
  var keepsProgress: Bool { false }

  private func upload(of image: FirmwareImage) throws(UpdateFault) -> MicrobitUpload {
    MicrobitUpload(
      context: context, retained: retained, channel: channel, board: state.board,
      script: try script(of: image).1)
  }

  func prepare(_ plan: UpdatePlan, restart: Bool) async throws(UpdateFault) -> PreparedUpload {
    let upload = try upload(of: plan.image)
    try await upload.begin()
    return PreparedUpload(from: 0) { () async throws(UpdateFault) in
      try await upload.upload(plan.image.bytes)
    }
  }

  /// Returns `.verified` without a request: the device has confirmed every block, and reports
  /// nothing else about the script before the restart.
  func verify(_ image: FirmwareImage) -> UpdateVerdict { .verified }

  func activate(
    _ images: [FirmwareImage], keeping current: [FirmwareImage]
  ) async throws(UpdateFault) {
    guard let image = images.first else { return }
    try await upload(of: image).finish()
  }

  // MARK: After the restart

  /// The time for the start of a program, 2 s at most, and for a search.
  private static let searchLimit = Duration.seconds(15)

  /// Returns `nil` if a program was running before the update: its runtime, which uses Bluetooth,
  /// is still the same. The program of a device that was in pairing mode may not use Bluetooth.
  func silentRestartLimit(of images: [FirmwareImage]) -> Duration? {
    retained.value.modeBefore == .application ? nil : Self.searchLimit
  }

  /// Compares the hash of the script. A device leaves pairing mode only after the end of a
  /// transfer, which the host requests only after all blocks were confirmed.
  func running(expecting image: FirmwareImage) throws(UpdateFault) -> RunningImage {
    let (_, script) = try script(of: image)
    guard state.mode == .application else { return .bootloader }
    if state.runs(script) { return RunningImage(version: image.version, agreement: .same) }
    guard state.hasRuntime(of: script), script.scriptHash == nil else {
      throw .declined(.reconnect, .microbitOtherProgram)
    }
    return RunningImage(version: nil, agreement: .restarted)
  }
}
