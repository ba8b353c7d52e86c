import Crypto
import OtaflashFirmware
import OtaflashGATT
import OtaflashWire

/// One file of a server with the file management group, on one connection.
struct SMPFileServer: Sendable {
  /// The maximum size in bytes of a file that is read or written.
  static let sizeMaximum = 64 * 1024 * 1024
  /// The time limit for a response that waits for flash.
  static let flashLimit = Duration.seconds(20)

  /// The result of a comparison by a checksum.
  enum Comparison: Equatable, Sendable {
    /// The contents are equal, by this checksum.
    case equal(String)
    case different
    /// The server supports no checksum that the host knows, or has none for this file.
    case unavailable
  }

  let channel: SMPChannel
  let buffers: SMPBuffers
  let path: String
  private(set) var context: UpdateContext

  /// Closes the file that an earlier connection may have left open, and reads the server's buffers.
  init(
    of path: String, over channel: SMPChannel, _ context: UpdateContext
  ) async throws(UpdateFault) {
    self.channel = channel
    self.path = path
    self.context = context
    // The first request waits until a busy server responds. Without it, a busy server would appear
    // not to support the next requests.
    try await Self.close(over: channel, .connect)
    buffers = try await SMPBuffers(asking: channel)
    if buffers.reassembles, buffers.widthLimit > 1 { channel.fillEvents() }
  }

  /// The same server, whose transfers report no progress.
  var withoutReports: SMPFileServer {
    var silent = self
    silent.context = UpdateContext(
      clock: context.clock, options: context.options, tally: UpdateProgressState(),
      observe: { _ in })
    return silent
  }

  /// Closes the open file, so that its length is stored. Servers before Zephyr 3.4 do not have the
  /// command.
  func close(_ stage: UpdateStage) async throws(UpdateFault) {
    try await Self.close(over: channel, stage)
  }

  private static func close(
    over channel: SMPChannel, _ stage: UpdateStage
  ) async throws(UpdateFault) {
    let result = try await channel.ask(SMPFiles.Close(), stage, within: flashLimit)
    guard case .failure(let refusal) = result, !refusal.isNotSupported else { return }
    throw .declined(stage, refusal.inWords)
  }

  /// Returns the length of the file in bytes; `nil` if there is no file.
  func length(_ stage: UpdateStage) async throws(UpdateFault) -> Int? {
    switch try await channel.ask(SMPFiles.Status(name: path), stage) {
    case .success(let status): return status.length
    case .failure(let refusal) where refusal.isNoSuchFile: return nil
    case .failure(let refusal) where refusal.isNotSupported: break
    case .failure(let refusal): throw .declined(stage, refusal.inWords)
    }
    // The first response of a download also contains the length.
    switch try await channel.ask(SMPFiles.Download(name: path, offset: 0), stage) {
    case .success(let first): return first.length
    case .failure(let refusal) where refusal.isNoSuchFile: return nil
    case .failure(let refusal) where refusal.isNotSupported:
      throw .declined(stage, .noFileGroup(code: refusal.inWords.code))
    case .failure(let refusal): throw .declined(stage, refusal.inWords)
    }
  }

  // MARK: Checksums

  /// The time that the checksum of a file adds to the time limit, for each KiB.
  private static let checksumTimePerKiB = Duration.milliseconds(64)
  private static let checksumTries = 2

  /// Compares the first bytes of the file with `bytes`, which are not empty.
  func compare(
    with bytes: ArraySlice<UInt8>, _ stage: UpdateStage
  ) async throws(UpdateFault) -> Comparison {
    guard case .success(let first)? = try await checksum(nil, of: bytes.count, stage) else {
      return .unavailable
    }
    if let type = SMPFiles.ChecksumType(rawValue: first.type) {
      return first.compare(with: bytes, as: type)
    }
    // The default is an unknown checksum, but the server may also have a known one.
    guard let types = try await channel.inquire(SMPFiles.ChecksumTypes()),
      let type = SMPFiles.ChecksumType.allCases.first(where: { types.names.contains($0.rawValue) }),
      case .success(let second)? = try await checksum(type, of: bytes.count, stage)
    else { return .unavailable }
    return second.compare(with: bytes, as: type)
  }

  private func checksum(
    _ type: SMPFiles.ChecksumType?, of count: Int, _ stage: UpdateStage
  ) async throws(UpdateFault) -> Result<SMPFiles.Checksum.Response, SMPRefusal>? {
    let limit = Self.flashLimit + Self.checksumTimePerKiB * (count / 1024)
    let result = try await channel.ask(
      SMPFiles.Checksum(name: path, type: type?.rawValue, length: count), stage, within: limit,
      tries: Self.checksumTries)
    guard case .failure(let refusal) = result else { return result }
    guard refusal.isNoChecksum || refusal.isNoSuchFile else {
      throw .declined(stage, refusal.inWords)
    }
    return nil
  }
}

extension SMPFiles.Checksum.Response {
  /// - Parameter bytes: the bytes whose checksum was requested.
  fileprivate func compare(
    with bytes: ArraySlice<UInt8>, as type: SMPFiles.ChecksumType
  ) -> SMPFileServer.Comparison {
    let expected: Output =
      switch type {
      case .crc32: .number(UInt64(CRC32.checksum(bytes)))
      case .sha256: .bytes(Array(SHA256.hash(data: Array(bytes))))
      }
    return length == bytes.count && output == expected ? .equal(type.rawValue) : .different
  }
}

extension ProtocolRefusal {
  static func noFileGroup(code: String?) -> ProtocolRefusal {
    ProtocolRefusal(
      code: code, meaning: "it has no file management",
      advice: "The firmware must be built with CONFIG_FILE_SYSTEM and CONFIG_MCUMGR_GRP_FS.",
      kind: .unsuitable)
  }

  static func pathTooLong(_ bytes: Int, least: Int) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "buffer \(bytes)",
      meaning: "its requests have \(bytes) bytes at most, but this path needs \(least)",
      advice: "Choose a shorter path, or build the firmware with a larger ATT_MTU or with SMP "
        + "reassembly.", kind: .unsuitable)
  }

  static func fileTooLarge(_ size: Int) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "size \(size)", meaning: "the file is larger than 64 MiB",
      advice: "Files of this size are not transferred.", kind: .unsuitable)
  }

  static let cannotEmptyFile = ProtocolRefusal(
    code: "length 0", meaning: "the existing file was not emptied",
    advice: "MCUmgr replaces a file only if the new file has at least one byte.", kind: .unsuitable)

  static func fileLength(_ found: Int?, expected: Int) -> ProtocolRefusal {
    ProtocolRefusal(
      code: found.map { "length \($0)" } ?? "no file",
      meaning: "the file does not have the expected length of \(expected) bytes",
      advice: "The application or another host may be writing the same file: try again.",
      kind: .rejected, remedy: .tryAgain)
  }

  static let fileDiffers = ProtocolRefusal(
    code: "checksum", meaning: "the checksum of the file is wrong",
    advice: "The application or another host may be writing the same file: try again. If the error "
      + "persists, the device's flash is worn.", kind: .rejected, remedy: .tryAgain)
}
