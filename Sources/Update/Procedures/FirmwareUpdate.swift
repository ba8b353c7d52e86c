import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// A verified update of one device. Its steps are: connect, compare, authorize, send, verify,
/// activate, reconnect, and read back the running image.
///
/// Run the update directly over a dialer, or as a command in a peripheral's queue, in which no
/// other command can run during the update.
public struct FirmwareUpdate: Sendable {
  /// The display name of the package or image.
  public let name: String
  /// The caller's options.
  public let options: UpdateOptions
  /// The images, grouped by the restart that starts them, in the order of the restarts.
  private let rounds: [[FirmwareImage]]
  private let choice: ProtocolChoice
  private let observe: @Sendable (UpdateEvent) -> Void

  /// Creates an update to the images of a package.
  ///
  /// - Parameters:
  ///   - package: the images, each of which goes to its own slot or bootloader.
  ///   - options: the caller's options.
  ///   - protocols: the known protocols, one or more, each once. The services of the device and the
  ///     image determine which protocol is used. The order matters only for a device that may be in
  ///     a bootloader at another address: its locations are searched in the order of the protocols.
  ///   - observe: receives the events in order, in the task of the update. It must return soon, and
  ///     cannot change the update.
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

  /// Creates an update to one image.
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

  /// The update as a command, performed by a `Peripheral`. Cancelling the task that performs the
  /// command ends the transfer at a safe point, and notifies the device. The device keeps its
  /// resume offset if its protocol supports resuming.
  public var command: Command<PeripheralTurn, UpdateResult, UpdateFault> {
    Command("flash \(name)") { (turn) async throws(UpdateFault) -> UpdateResult in
      let result = try await perform(in: turn)
      observe(.finished(result))
      return result
    }
  }

  /// Runs the update over new links.
  ///
  /// - Throws: `UpdateFault`, unless the running image was verified, the outcome is `.restarted`
  ///   because the device reports nothing that identifies its image, or the run is a dry run.
  public func run(
    on dialer: Dialer, clock: any LinkClock
  ) async throws(UpdateFault) -> UpdateResult {
    try await command.run(on: dialer, clock: clock)
  }

  private func context(clock: any LinkClock) -> UpdateContext {
    var context = UpdateContext(
      clock: clock, options: options, tally: UpdateProgressState(),
      meter: TransferMeter(roundTrip: { _ in }), observe: observe)
    let parts = Array(rounds.joined())
    if parts.count > 1 { context.parts = parts }
    return context
  }

  private func perform(
    in turn: PeripheralTurn
  ) async throws(UpdateFault) -> UpdateResult {
    var context = context(clock: turn.clock)
    let started = context.clock.now
    var report = RoundSummary()
    var places = choice.places(for: rounds[0], asked: options.updateProtocol)
    for images in rounds {
      do throws(UpdateFault) {
        let lifeCycle = UpdateLifeCycle(
          images: images, turn: turn, context: context, choice: choice)
        report.add(try await lifeCycle.run(from: &report.from, at: places), of: images)
      } catch .declined(_, let refusal) where refusal.needsAnotherPass {
        context = self.context(clock: context.clock)
        let lifeCycle = UpdateLifeCycle(
          images: images, turn: turn, context: context, choice: choice)
        report.add(
          try await lifeCycle.run(from: &report.from, at: [turn.whereabouts]), of: images)
      }
      if report.outcome == .wouldFlash { break }
      places = [turn.whereabouts]
    }
    turn.disconnect()
    return report.result(of: context.tally.now, took: started.duration(to: context.clock.now))
  }
}

extension FirmwarePackage {
  /// The images, grouped by the restart that starts them, in the order of the restarts. MCUboot
  /// starts all images together, except for an installer, which must start first and separately. A
  /// Nordic bootloader starts each image separately, and the program that then runs receives the
  /// next image.
  fileprivate var rounds: [[FirmwareImage]] {
    switch kind {
    case .raw, .mcuboot, .deviceManager, .gbl:
      parts.filter { $0.installer != nil }.map { [$0] }
        + [parts.filter { $0.installer == nil }].filter { !$0.isEmpty }
    case .nordicSecureDFU, .nordicLegacyDFU: parts.map { [$0] }
    }
  }
}
