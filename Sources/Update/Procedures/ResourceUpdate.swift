import OtaflashFirmware
import OtaflashGATT

/// Stores the external resources of InfiniTime in the file system of the watch, over the file
/// transfer service.
///
/// Each file is written under a temporary name, read back, and then moved to its path, so that the
/// watch never has an incomplete file at a path that its firmware opens. An interrupted transfer
/// resumes at the end of the temporary file if the content of this file is correct.
public struct ResourceUpdate: Sendable {
  /// The outcome of a transfer.
  public struct Outcome: Equatable, Sendable {
    /// The paths of the files that were sent and read back.
    public var sent: [String] = []
    /// The paths of the files that the device had before; their content was compared.
    public var present: [String] = []
    /// The paths of obsolete files that were deleted.
    public var deleted: [String] = []
    /// The number of bytes of the package that an earlier run had stored in an incomplete file.
    public var resumedFrom = 0
    /// The number of data bytes sent, repeats included.
    public var bytesSent = 0
    /// The number of connections.
    public var connections = 0
    /// The time from the first connection to the result.
    public var took = Duration.zero
    /// The running firmware version; `nil` if the device does not report the version.
    public var version: FirmwareVersion?
  }

  /// The path of the file that is being sent. Only one such file exists at a time.
  package static let partPath = "/otaflash.part"

  /// The package to store.
  public let package: ResourcePackage
  /// The limits of all waits, the MTU, and the strategy for reconnecting. With `isDryRun`, the
  /// files are only compared; with `sendsAnyway`, all files are sent; with `startsOver`, an
  /// incomplete file of an earlier run is discarded.
  public let options: UpdateOptions
  private let observe: @Sendable (UpdateEvent) -> Void

  /// Creates a transfer.
  public init(
    _ package: ResourcePackage, options: UpdateOptions = UpdateOptions(),
    observe: @escaping @Sendable (UpdateEvent) -> Void = { _ in }
  ) {
    self.package = package
    self.options = options
    self.observe = observe
  }

  /// The transfer as a command for a peripheral's queue.
  public var command: Command<PeripheralTurn, Outcome, UpdateFault> {
    Command("resources") { (turn) async throws(UpdateFault) -> Outcome in
      let context = UpdateContext(
        clock: turn.clock, options: options, tally: UpdateProgressState(), observe: observe)
      let began = turn.clock.now
      var run = ResourceRun(package: package, context: context)
      try await TransferConnections(turn: turn, context: context).run(
        open: { () async throws(UpdateFault) in try await turn.connect(requestingMTU: options.mtu) }
      ) { (client) async throws(UpdateFault) in try await run.perform(on: client) }
      var outcome = run.outcome
      outcome.bytesSent = context.tally.now.bytesSent
      outcome.took = began.duration(to: turn.clock.now)
      return outcome
    }
  }

  /// Performs the transfer over new links.
  public func run(on dialer: Dialer, clock: any LinkClock) async throws(UpdateFault) -> Outcome {
    try await command.run(on: dialer, clock: clock)
  }
}
