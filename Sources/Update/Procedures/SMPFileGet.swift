import OtaflashGATT

/// Reads a file from the file system of a device over SMP (group 8). After a lost link, the
/// transfer resumes in the same run.
public struct SMPFileGet: Sendable {
  /// The file and the evidence for its content.
  public struct Outcome: Equatable, Sendable {
    /// The content.
    public var bytes: [UInt8] = []
    /// The evidence that host and device have the same file.
    public var evidence = SMPFileEvidence.length
    /// The number of connections.
    public var connections = 0
    /// The time from the first connection to the result.
    public var took = Duration.zero
  }

  /// The maximum number of times that a file is read on one connection. A file that has changed is
  /// read again from its start.
  private static let readsMaximum = 2

  /// The absolute path on the device.
  public let path: String
  /// The limits of all waits, the MTU, and the strategy for reconnecting.
  public let options: UpdateOptions
  private let observe: @Sendable (UpdateEvent) -> Void

  /// Creates a transfer.
  public init(
    _ path: String, options: UpdateOptions = UpdateOptions(),
    observe: @escaping @Sendable (UpdateEvent) -> Void = { _ in }
  ) {
    self.path = path
    self.options = options
    self.observe = observe
  }

  /// The transfer as a command for a peripheral's queue.
  public var command: Command<PeripheralTurn, Outcome, UpdateFault> {
    Command("get") { (turn) async throws(UpdateFault) -> Outcome in
      let context = UpdateContext(
        clock: turn.clock, options: options, tally: UpdateProgressState(), observe: observe)
      var outcome = Outcome()
      let began = turn.clock.now
      let connections = SMPFileConnections(path: path, turn: turn, context: context)
      outcome.evidence = try await connections.run {
        (server) async throws(UpdateFault) -> SMPFileEvidence in
        outcome.connections += 1
        return try await Self.read(into: &outcome.bytes, from: server)
      }
      outcome.took = began.duration(to: turn.clock.now)
      return outcome
    }
  }

  /// Performs the transfer over new links.
  public func run(on dialer: Dialer, clock: any LinkClock) async throws(UpdateFault) -> Outcome {
    try await command.run(on: dialer, clock: clock)
  }

  /// Performs the steps of one connection.
  private static func read(
    into bytes: inout [UInt8], from server: SMPFileServer
  ) async throws(UpdateFault) -> SMPFileEvidence {
    let context = server.context
    for _ in 0..<readsMaximum {
      context.observe(.stageBegan(.download))
      let began = context.clock.now
      var download = try await SMPFileDownload(from: server, holding: bytes)
      let offset = download.received.count
      context.observe(
        .transferBegan(offset: offset, total: download.length, resumed: !bytes.isEmpty))
      do throws(UpdateFault) {
        try await download.run()
        bytes = download.received
      } catch {
        bytes = download.received
        throw error
      }
      try await server.close(.download)
      context.observe(.stageEnded(.download, took: began.duration(to: context.clock.now)))
      guard let evidence = try await evidence(for: bytes, on: server) else {
        bytes = []
        continue
      }
      return evidence
    }
    throw .declined(.verify, .fileDiffers)
  }

  /// Compares the received bytes with the file. Returns `nil` if they differ.
  private static func evidence(
    for bytes: [UInt8], on server: SMPFileServer
  ) async throws(UpdateFault) -> SMPFileEvidence? {
    guard !bytes.isEmpty else { return .length }
    return switch try await server.compare(with: bytes[...], .verify) {
    case .equal(let name): .checksum(name)
    case .different: nil
    case .unavailable: .length
    }
  }
}
