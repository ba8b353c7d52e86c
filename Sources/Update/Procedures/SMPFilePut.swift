import OtaflashGATT

/// Writes a file to the file system of a device over SMP (group 8). An interrupted transfer resumes
/// if the checksum of the device's part is correct. Without checksums of the device, an interrupted
/// transfer resumes only in the same run.
public struct SMPFilePut: Sendable {
  /// The outcome of a transfer.
  public struct Outcome: Equatable, Sendable {
    /// Whether the device had the complete file before; `false` if the device provides no checksum
    /// of a file that is not empty.
    public var wasThere = false
    /// The offset at which an earlier run was resumed; 0 if the file was sent from its start, the
    /// length of the file if the device had the complete file.
    public var resumedFrom = 0
    /// The evidence that the device has the file.
    public var evidence = SMPFileEvidence.length
    /// The number of data bytes sent, repeats included.
    public var bytesSent = 0
    /// The number of connections.
    public var connections = 0
    /// The time from the first connection to the result.
    public var took = Duration.zero
  }

  /// The content, at most 64 MiB.
  public let bytes: [UInt8]
  /// The absolute path on the device, such as `/lfs1/settings.bin`.
  public let path: String
  /// Whether the file is sent from its start, even if the device has a part or all of it.
  public let sendsAnyway: Bool
  /// The limits of all waits, the MTU, and the strategy for reconnecting.
  public let options: UpdateOptions
  private let observe: @Sendable (UpdateEvent) -> Void

  /// Creates a transfer.
  public init(
    _ bytes: [UInt8], to path: String, sendsAnyway: Bool = false,
    options: UpdateOptions = UpdateOptions(),
    observe: @escaping @Sendable (UpdateEvent) -> Void = { _ in }
  ) {
    self.bytes = bytes
    self.path = path
    self.sendsAnyway = sendsAnyway
    self.options = options
    self.observe = observe
  }

  /// The transfer as a command for a peripheral's queue.
  public var command: Command<PeripheralTurn, Outcome, UpdateFault> {
    Command("put") { (turn) async throws(UpdateFault) -> Outcome in
      guard bytes.count <= SMPFileServer.sizeMaximum else {
        throw .declined(.prepare, .fileTooLarge(bytes.count))
      }
      let context = UpdateContext(
        clock: turn.clock, options: options, tally: UpdateProgressState(), observe: observe)
      var run = FilePutRun(bytes: bytes, sendsAnyway: sendsAnyway)
      let began = turn.clock.now
      try await SMPFileConnections(path: path, turn: turn, context: context).run {
        (server) async throws(UpdateFault) in try await run.perform(on: server)
      }
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

/// The evidence that host and device have the same file.
public enum SMPFileEvidence: Equatable, Sendable {
  /// The checksums that host and device have calculated are equal. The value is the name of the
  /// checksum: `crc32` or `sha256`.
  case checksum(String)
  /// The file was read back and compared.
  case readBack
  /// Only the lengths are equal.
  case length
}

/// The state of a transfer over all its connections.
private struct FilePutRun {
  /// The number of failed transfers after which the file is not sent from its start again.
  private static let restartsMaximum = 3
  /// The maximum size in bytes of a file that is read back for comparison.
  private static let readBackMaximum = 64 * 1024

  let bytes: [UInt8]
  let sendsAnyway: Bool
  var outcome = SMPFilePut.Outcome()
  /// The length of the file on the device before this run, from the first connection: `nil` before
  /// the length is known, `.some(nil)` if there was no file.
  private var lengthBefore: Int??
  /// The end of the bytes that this run has sent; `nil` before the first request at offset 0 or
  /// before a resumed upload.
  private var sentEnd: Int?
  private var restarts = 0

  init(bytes: [UInt8], sendsAnyway: Bool) {
    self.bytes = bytes
    self.sendsAnyway = sendsAnyway
  }

  /// Performs the steps of one connection.
  mutating func perform(on server: SMPFileServer) async throws(UpdateFault) {
    let context = server.context
    outcome.connections += 1
    context.observe(.stageBegan(.prepare))
    let began = context.clock.now
    var held = try await resumeOffset(on: server)
    context.observe(.stageEnded(.prepare, took: began.duration(to: context.clock.now)))
    if sentEnd == nil {
      outcome.wasThere = held.offset == bytes.count && held.evidence != nil
      outcome.resumedFrom = held.offset
      if outcome.wasThere, let evidence = held.evidence {
        outcome.evidence = evidence
        return
      }
    }
    while true {
      try await send(from: held.offset, on: server)
      guard let evidence = try await verify(on: server) else {
        try countRestart(.declined(.verify, .fileDiffers))
        held = (0, nil)
        continue
      }
      outcome.evidence = evidence
      return
    }
  }

  // MARK: The start

  /// Returns the number of bytes that the device has and that need not be sent, and the evidence
  /// for these bytes; the evidence is `nil` if the number is 0, or if only the number was checked.
  private mutating func resumeOffset(
    on server: SMPFileServer
  ) async throws(UpdateFault) -> (offset: Int, evidence: SMPFileEvidence?) {
    let length = try await server.length(.prepare)
    let before = lengthBefore ?? length
    lengthBefore = .some(before)
    guard let length, length <= bytes.count, !(sendsAnyway && sentEnd == nil) else {
      return (0, nil)
    }
    if length == 0 { return (0, bytes.isEmpty ? .length : nil) }
    switch try await server.compare(with: bytes[..<length], .prepare) {
    case .equal(let name):
      server.context.tally.keepsProgress(true)
      return (length, .checksum(name))
    case .different:
      server.context.tally.keepsProgress(true)
      return (0, nil)
    case .unavailable:
      // Without a checksum, only a part that this run has sent is certain. A device that restarted
      // may have its previous file.
      guard let sentEnd, length <= sentEnd, length != before else { return (0, nil) }
      return (length, nil)
    }
  }

  // MARK: The transfer

  private mutating func send(
    from offset: Int, on server: SMPFileServer
  ) async throws(UpdateFault) {
    let context = server.context
    context.observe(.stageBegan(.upload))
    let began = context.clock.now
    var offset = offset
    context.observe(.transferBegan(offset: offset, total: bytes.count, resumed: offset > 0))
    while true {
      if offset == 0 {
        sentEnd = max(sentEnd ?? 0, 1)
        offset = try await SMPFileUpload.begin(bytes, on: server)
      }
      if offset == bytes.count {
        sentEnd = offset
        context.acknowledged(offset, of: bytes.count)
        break
      }
      var upload = try SMPFileUpload(of: bytes, from: offset, on: server)
      let result: SMPFileUpload.Outcome
      do throws(UpdateFault) {
        result = try await upload.run()
        sentEnd = max(sentEnd ?? 0, upload.sentEnd)
      } catch {
        sentEnd = max(sentEnd ?? 0, upload.sentEnd)
        throw error
      }
      guard case .startOver(let refusal) = result else { break }
      try countRestart(
        refusal.map { .declined(.upload, $0.inWords) }
          ?? .noProgress(atOffset: 0, repeats: Self.restartsMaximum))
      context.observe(.rewound(to: 0, because: .gap))
      offset = 0
    }
    try await server.close(.upload)
    context.observe(.stageEnded(.upload, took: began.duration(to: context.clock.now)))
  }

  private mutating func countRestart(_ fault: UpdateFault) throws(UpdateFault) {
    restarts += 1
    guard restarts < Self.restartsMaximum else { throw fault }
  }

  // MARK: The end

  /// Compares the file on the device with the sent file. Returns `nil` if their content differs,
  /// and throws `.declined` if their lengths differ.
  private func verify(on server: SMPFileServer) async throws(UpdateFault) -> SMPFileEvidence? {
    let context = server.context
    context.observe(.stageBegan(.verify))
    let began = context.clock.now
    let evidence = try await evidence(on: server)
    if evidence != nil {
      context.observe(.stageEnded(.verify, took: began.duration(to: context.clock.now)))
    }
    return evidence
  }

  private func evidence(on server: SMPFileServer) async throws(UpdateFault) -> SMPFileEvidence? {
    let length = try await server.length(.verify)
    guard length == bytes.count else {
      if bytes.isEmpty { throw .declined(.verify, .cannotEmptyFile) }
      throw .declined(.verify, .fileLength(length, expected: bytes.count))
    }
    if bytes.isEmpty { return .length }
    switch try await server.compare(with: bytes[...], .verify) {
    case .equal(let name): return .checksum(name)
    case .different: return nil
    case .unavailable: break
    }
    guard bytes.count <= Self.readBackMaximum else { return .length }
    var download = try await SMPFileDownload(from: server.withoutReports)
    try await download.run()
    try await server.close(.verify)
    return download.received == bytes ? .readBack : nil
  }
}
