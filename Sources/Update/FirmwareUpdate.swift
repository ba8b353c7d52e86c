import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// One image onto one device, proven: connect, compare, authorize, send, verify, activate,
/// reconnect, and read back what runs.
///
/// Run on its own over a dialer, or as a command in a peripheral's queue, where nothing else can
/// interleave with it.
public struct FirmwareUpdate: Sendable {
  public let image: FirmwareImage
  public let options: UpdateOptions
  private let observe: @Sendable (UpdateEvent) -> Void

  /// - Parameter observe: told what happens, in order, from the update's own task. It must return
  ///   soon; it can change nothing.
  public init(
    image: FirmwareImage, options: UpdateOptions = UpdateOptions(),
    observe: @escaping @Sendable (UpdateEvent) -> Void = { _ in }
  ) {
    self.image = image
    self.options = options
    self.observe = observe
  }

  /// The update as a command, to be performed by a `Peripheral`. Cancelling the task that performs
  /// it ends the transfer at a safe point, tells the device, and keeps the resume point.
  public var command: Command<PeripheralTurn, UpdateResult, UpdateFault> {
    Command("flash \(image.name)") { (turn) async throws(UpdateFault) -> UpdateResult in
      let context = UpdateContext(
        clock: turn.clock, options: options, tally: UpdateTally(), observe: observe)
      let lifeCycle = UpdateLifeCycle(image: image, turn: turn, context: context)
      return try await lifeCycle.run()
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
}
