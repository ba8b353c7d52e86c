import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// A firmware file onto one device, proven: connect, compare, authorize, send, verify, activate,
/// reconnect, and read back what runs.
///
/// Run on its own over a dialer, or as a command in a peripheral's queue, where nothing else can
/// interleave with it.
public struct FirmwareUpdate: Sendable {
  /// How a person names what is sent.
  public let name: String
  /// What the caller decided.
  public let options: UpdateOptions
  /// Images that share one restart, in the order of the restarts.
  private let rounds: [[FirmwareImage]]
  private let choice: ProtocolChoice
  private let observe: @Sendable (UpdateEvent) -> Void

  /// - Parameters:
  ///   - package: the images, each of which goes to its own slot or bootloader.
  ///   - options: what the caller decides.
  ///   - protocols: those that are known, one or more, each once. Which of them a device is updated
  ///     by, its services and the image decide, not their order; a device that may have been left
  ///     in a bootloader elsewhere is looked for in their order.
  ///   - observe: told what happens, in order, from the update's own task. It must return soon; it
  ///     can change nothing.
  public init(
    package: FirmwarePackage, options: UpdateOptions = UpdateOptions(),
    protocols: [any UpdateSession.Type] = UpdateProtocol.all,
    observe: @escaping @Sendable (UpdateEvent) -> Void = { _ in }
  ) {
    name = package.name
    self.options = options
    rounds = package.rounds
    choice = ProtocolChoice(protocols: protocols)
    self.observe = observe
  }

  /// The update to one image.
  public init(
    image: FirmwareImage, options: UpdateOptions = UpdateOptions(),
    protocols: [any UpdateSession.Type] = UpdateProtocol.all,
    observe: @escaping @Sendable (UpdateEvent) -> Void = { _ in }
  ) {
    name = image.name
    self.options = options
    rounds = [[image]]
    choice = ProtocolChoice(protocols: protocols)
    self.observe = observe
  }

  /// The update as a command, to be performed by a `Peripheral`. Cancelling the task that performs
  /// it ends the transfer at a safe point, tells the device, and keeps the resume point.
  public var command: Command<PeripheralTurn, UpdateResult, UpdateFault> {
    Command("flash \(name)") { (turn) async throws(UpdateFault) -> UpdateResult in
      var context = UpdateContext(
        clock: turn.clock, options: options, tally: UpdateProgressState(),
        meter: TransferMeter(roundTrip: { _ in }), observe: observe)
      let parts = Array(rounds.joined())
      if parts.count > 1 { context.parts = parts }
      let result = try await perform(in: turn, context)
      observe(.finished(result))
      return result
    }
  }

  /// Runs the update over links of its own.
  ///
  /// - Throws: `UpdateFault`; nothing is called done that was not seen running.
  public func run(
    on dialer: Dialer, clock: any LinkClock
  ) async throws(UpdateFault) -> UpdateResult {
    try await command.run(on: dialer, clock: clock)
  }

  private func perform(
    in turn: PeripheralTurn, _ context: UpdateContext
  ) async throws(UpdateFault) -> UpdateResult {
    let started = context.clock.now
    var report = RoundSummary()
    var places = choice.places(for: rounds[0], asked: options.updateProtocol)
    for images in rounds {
      let lifeCycle = UpdateLifeCycle(
        images: images, turn: turn, context: context, choice: choice)
      report.add(try await lifeCycle.run(from: &report.from, at: places), of: images)
      if report.outcome == .wouldFlash { break }
      places = [turn.whereabouts]
    }
    turn.disconnect()
    return report.result(of: context.tally.now, took: started.duration(to: context.clock.now))
  }
}

extension FirmwarePackage {
  /// MCUboot's images are started together, but an installer by itself and first; a Nordic boot
  /// loader starts each part by itself, and the next is sent to what has come up.
  fileprivate var rounds: [[FirmwareImage]] {
    switch kind {
    case .raw, .mcuboot, .deviceManager:
      parts.filter { $0.installer != nil }.map { [$0] }
        + [parts.filter { $0.installer == nil }].filter { !$0.isEmpty }
    case .nordicSecureDFU, .nordicLegacyDFU: parts.map { [$0] }
    }
  }
}
