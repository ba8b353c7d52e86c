import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import OtaflashWire
import Testing

/// Tests of file servers that violate the protocol, or whose answers are unusual. Each transfer
/// ends with a clear error or with the correct file.
@Suite struct SMPHostileFileTests {
  private static func done(_ message: SMPMessage, _ response: some SMPResponse) -> SMPMessage {
    SMPMessage(answering: message, with: response)
  }

  private static func refused(_ message: SMPMessage, _ code: SMPRefusal.Code) -> SMPMessage {
    SMPMessage(answering: message, refusing: SMPRefusal(code))
  }

  /// A server whose downloads are computed by `part`.
  private static func downloads(
    length: Int, _ part: @escaping @Sendable (Int) -> SMPFiles.Download.Response
  ) -> ScriptedServer {
    ScriptedServer { call, message in
      switch call {
      case .files(.download(let request)): done(message, part(request.offset))
      case .files(.status): done(message, SMPFiles.Status.Response(length: length))
      case .parameters: done(message, SMPOS.Parameters.Response(bufferSize: 400, bufferCount: 4))
      default: refused(message, .general(8))
      }
    }
  }

  private func get(from server: ScriptedServer) throws -> Result<SMPFileGet.Outcome, UpdateFault> {
    try server.run { (dialer, clock) async throws(UpdateFault) in
      try await SMPFileGet("/f").run(on: dialer, clock: clock)
    }
  }

  @Test("a read part at another offset, or beyond the end, ends the transfer")
  func wrongParts() throws {
    let shifted = Self.downloads(length: 1000) { offset in
      .init(
        offset: offset == 0 ? 0 : offset + 1, data: [UInt8](repeating: 1, count: 100), length: 1000)
    }
    let long = Self.downloads(length: 150) { offset in
      .init(offset: offset, data: [UInt8](repeating: 1, count: 100), length: 150)
    }
    for server in [shifted, long] {
      guard case .failure(.protocolViolation(.download, _)) = try get(from: server) else {
        Issue.record("no violation")
        return
      }
    }
  }

  @Test("a server that sends no more bytes ends the transfer")
  func noBytes() throws {
    let server = Self.downloads(length: 1000) { offset in
      .init(
        offset: offset, data: offset < 300 ? [UInt8](repeating: 1, count: 100) : [], length: 1000)
    }
    #expect(try get(from: server) == .failure(.noProgress(atOffset: 300, repeats: 5)))
  }

  @Test("short reads end with the complete file")
  func shortReads() throws {
    let bytes = randomBytes(2_000)
    let server = Self.downloads(length: bytes.count) { offset in
      let count = offset == 0 ? 200 : 1 + offset % 7
      return .init(
        offset: offset, data: Array(bytes[offset..<min(bytes.count, offset + count)]),
        length: bytes.count)
    }
    #expect(try get(from: server).get().bytes == bytes)
  }

  @Test("a length of 4 GiB and a missing length are refused")
  func lengths() throws {
    let huge = Self.downloads(length: 1) { .init(offset: $0, data: [1], length: 0xFFFF_FFFF) }
    guard case .failure(.declined(.download, let refusal)) = try get(from: huge) else {
      Issue.record("the length is accepted")
      return
    }
    #expect(refusal.meaning == "the file is larger than 64 MiB")
    let none = Self.downloads(length: 1) { .init(offset: $0, data: [1]) }
    guard case .failure(.protocolViolation) = try get(from: none) else {
      Issue.record("no violation")
      return
    }
  }

  @Test("a file that is stored wrongly is sent again a limited number of times")
  func wrongChecksum() throws {
    let bytes = randomBytes(1_000)
    let server = ScriptedServer { call, message in
      switch call {
      case .files(.upload(let part)):
        Self.done(message, SMPFiles.Upload.Response(offset: part.offset + part.data.count))
      case .files(.status): Self.done(message, SMPFiles.Status.Response(length: bytes.count))
      case .files(.checksum(let request)):
        Self.done(
          message,
          SMPFiles.Checksum.Response(
            type: "crc32", length: request.length ?? 0, output: .number(1)))
      case .files(.close): Self.done(message, SMPDone())
      default: Self.refused(message, .general(8))
      }
    }
    let result = try server.run { (dialer, clock) async throws(UpdateFault) in
      try await SMPFilePut(bytes, to: "/f").run(on: dialer, clock: clock)
    }
    guard case .failure(.declined(.verify, let refusal)) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(refusal.meaning == "the checksum of the file is wrong")
  }

  @Test("offsets beyond the sent bytes, and refused offsets without progress, end the transfer")
  func wrongOffsets() throws {
    func put(_ answer: @escaping @Sendable (SMPFiles.Upload, SMPMessage) -> SMPMessage) throws
      -> Result<SMPFilePut.Outcome, UpdateFault>
    {
      let server = ScriptedServer { call, message in
        switch call {
        case .files(.upload(let part)): answer(part, message)
        case .files(.status): Self.done(message, SMPFiles.Status.Response(length: 10))
        case .files(.close): Self.done(message, SMPDone())
        default: Self.refused(message, .general(8))
        }
      }
      return try server.run { (dialer, clock) async throws(UpdateFault) in
        try await SMPFilePut(randomBytes(3_000), to: "/f").run(on: dialer, clock: clock)
      }
    }
    guard
      case .failure(.protocolViolation(.upload, _)) = try put({ part, message in
        Self.done(
          message,
          SMPFiles.Upload.Response(offset: part.offset == 0 ? part.data.count : 90_000))
      })
    else {
      Issue.record("no violation")
      return
    }
    let stuck = try put { part, message in
      part.offset == 0
        ? Self.done(message, SMPFiles.Upload.Response(offset: part.data.count))
        : Self.refused(message, .group(.files, 11))
    }
    #expect(stuck == .failure(.noProgress(atOffset: 10, repeats: 5)))
  }

  @Test("an unknown default checksum is replaced by a known one, if the server lists it")
  func otherChecksums() throws {
    let bytes = randomBytes(500)
    let server = ScriptedServer { call, message in
      switch call {
      case .files(.download):
        Self.done(message, SMPFiles.Download.Response(offset: 0, data: bytes, length: bytes.count))
      case .files(.checksum(let request)):
        request.type == "sha256"
          ? Self.done(
            message,
            SMPFiles.Checksum.Response(
              type: "sha256", length: request.length ?? 0, output: .bytes(sha256(bytes))))
          : Self.done(
            message,
            SMPFiles.Checksum.Response(
              type: "crc16", length: request.length ?? 0, output: .number(9)))
      case .files(.checksumTypes):
        Self.done(message, SMPFiles.ChecksumTypes.Response(names: ["crc16", "sha256"]))
      default: Self.refused(message, .general(8))
      }
    }
    #expect(try get(from: server).get().evidence == .checksum("sha256"))
  }
}
