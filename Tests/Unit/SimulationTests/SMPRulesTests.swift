import OtaflashGATT
import OtaflashSimulation
import OtaflashTestSupport
import OtaflashUpdate
import OtaflashWire
import Testing

/// Tests of the rules by which the servers of vendors differ from each other, and from the
/// description of the protocol.
@Suite struct SMPRulesTests {
  private static let file = BootableFile()
  private static let old = "&server=2021"

  private func withServer(
    _ settings: String = "", mtu: UInt16 = 498,
    _ body: @escaping @Sendable (inout SMPHost, SimulatedBoard) async throws -> Void
  ) throws {
    try withBoard("smp?slot=64K&erase=0&write=0" + settings) { board, clock in
      var host = try await SMPHost.connected(to: board, mtu: mtu)
      try await body(&host, board)
      #expect(board.flashFaults == [])
    }
  }

  private static func first(
    _ bytes: Int = 400, _ change: (inout SMPImage.Upload.Announcement) -> Void = { _ in }
  ) -> SMPImage.Upload {
    var announcement = SMPHost.announce(file.bytes)
    change(&announcement)
    return SMPImage.Upload(
      offset: 0, data: Array(file.bytes.prefix(bytes)), announcement: announcement)
  }

  // MARK: Uploads

  @Test(arguments: [("&unit=8", 8), ("&unit=32", 32), (old, 4), (old + "&unit=1", 1)])
  func aServerAcceptsCompleteFlashWords(settings: String, unit: Int) throws {
    try withServer(settings) { (host, board) async throws in
      #expect(try await host.call(Self.first(431)).get().offset == 431 / unit * unit)
      // The rule applies to all requests except the last, which may have any size.
      let end = try await host.upload(Self.file.bytes, from: 431 / unit * unit, chunk: 433)
      #expect(end.offset == Self.file.bytes.count)
      #expect(try await host.state().last == "1:1.3.0 b")
    }
  }

  @Test func onlyTheHashIdentifiesAnUpload() throws {
    try withServer { (host, _) async throws in
      _ = try await host.upload(Self.file.bytes, to: 1_200)
      #expect(try await host.call(Self.first { $0.size = 800 }).get().offset == 1_200)
    }
  }

  @Test(arguments: [("", 0), (old, 1_200)])
  func anErrorDiscardsAnUpload(settings: String, kept: Int) throws {
    try withServer(settings) { (host, _) async throws in
      _ = try await host.upload(Self.file.bytes, to: 1_200)
      let wrong = SMPImage.Upload(
        offset: 0, data: [UInt8](repeating: 0, count: 100),
        announcement: SMPHost.announce(Self.file.bytes))
      guard case .failure = try await host.call(wrong) else {
        Issue.record("accepted without a header")
        return
      }
      #expect(try await host.call(SMPImage.Upload(offset: 9_000, data: [1])).get().offset == kept)
    }
  }

  @Test(arguments: [("", 400), (old, 1_200)])
  func anEraseDiscardsAnUpload(settings: String, offset: Int) throws {
    try withServer(settings) { (host, _) async throws in
      _ = try await host.upload(Self.file.bytes, to: 1_200)
      _ = try await host.call(SMPImage.Erase()).get()
      #expect(try await host.call(Self.first()).get().offset == offset)
    }
  }

  /// Only the pages of the image and the page of the bootloader's marks are erased; a blank slot
  /// needs no erase.
  @Test func anUploadErasesOnlyTheNeededPages() throws {
    try withServer { (host, board) async throws in
      _ = try await host.call(Self.first()).get()
      #expect(board.counters.flashOperations == 1, "the write only")
      _ = try await host.call(Self.first { $0.sha = nil }).get()
      #expect(board.counters.flashOperations == 1 + 3 + 1 + 1, "3 pages of 9,104 bytes, the last")
      _ = try await host.call(SMPImage.Erase()).get()
      #expect(board.counters.flashOperations == 6 + 16)
      _ = try await host.call(SMPImage.Erase()).get()
      #expect(board.counters.flashOperations == 6 + 16)
    }
  }

  @Test func missingFieldsHaveTheirCode() throws {
    try withServer { (host, _) async throws in
      // The messages are {}, and {"off": 0, "len": 100}.
      let length = "a2 63 6f 66 66 00 63 6c 65 6e 18 64"
      for (body, code) in [("01 00 01 07 01 a0", "14"), ("0c 00 01 07 01 " + length, "16")] {
        #expect(
          try await host.ask("0a 00 00 " + body)
            == "0b 00 00 11 00 01 07 01 a1 63 65 72 72 a2 62 72 63 \(code) 65 67 72 6f 75 70 01")
      }
    }
  }

  /// Servers of 2021 do not compare the size with the size of the slot, but the size of the flash
  /// still limits it.
  @Test func aServerOf2021IgnoresTheSize() throws {
    try withServer(Self.old) { (host, _) async throws in
      #expect(try await host.call(Self.first { $0.size = 1_000_000 }).get().offset == 400)
    }
  }

  @Test func aFailedWriteStopsAServerOf2021() throws {
    try withBoard("smp?slot=16K&bad-block&erase=0&write=0&check=no&server=2021") { board, _ in
      var host = try await SMPHost.connected(to: board)
      let bytes = BootableFile(body: makeImage(11_000)).bytes
      var offset = 0
      var codes: [SMPRefusal.Code] = []
      for _ in 0..<40 where codes.count < 2 {
        let request = SMPImage.Upload(
          offset: offset, data: Array(bytes[offset..<min(offset + 400, bytes.count)]),
          announcement: offset == 0 ? SMPHost.announce(bytes) : nil)
        switch try await host.call(request) {
        case .success(let answer): offset = answer.offset ?? 0
        case .failure(let refusal): codes.append(refusal.code)
        }
        if offset == bytes.count { break }
      }
      #expect(codes.isEmpty || codes == [.general(1), .general(1)])
    }
  }

  // MARK: Codes of 2021

  @Test func aServerOf2021AnswersAsTheFirstVersion() throws {
    try withServer(Self.old) { (host, _) async throws in
      // The answers are the same for every requested version: they have maps of indefinite length,
      // and no version.
      for first in ["02", "0a", "12"] {
        #expect(
          try await host.ask(first + " 00 00 06 00 00 42 00 a1 61 64 62 68 69")
            == "03 00 00 07 00 00 42 00 bf 61 72 62 68 69 ff")
      }
      for bytes in [127, 128] {
        let text = String(repeating: "x", count: bytes)
        #expect(try await host.call(SMPOS.Echo(text)).get().text == (bytes == 127 ? text : ""))
      }
      for answer in [
        try await host.call(SMPOS.Parameters()).code, try await host.call(SMPImage.SlotInfo()).code,
        try await host.call(SMPOS.BootloaderInfo()).code,
        try await host.call(SMPOS.ApplicationInfo()).code,
      ] { #expect(answer == .general(8)) }
      // Success is reported explicitly.
      #expect(
        try await host.ask("0a 00 00 01 00 01 43 05 a0")
          == "03 00 00 06 00 01 43 05 bf 62 72 63 00 ff")
    }
  }

  @Test func aServerOf2021NeverRefusesAConfirmation() throws {
    try withServer(Self.old) { (host, board) async throws in
      let unknown = [UInt8](repeating: 1, count: 32)
      let running = try await host.call(SMPImage.ReadState()).get().slots[0].hash
      #expect(try await host.setState(unknown, confirm: false) == .failure(.init(.general(3))))
      #expect(try await host.setState(running, confirm: false) == .failure(.init(.general(1))))
      #expect(try await host.upload(Self.file.bytes).matches == nil)
      _ = try await host.setState(Self.file.hash, confirm: false).get()
      #expect(try await host.call(Self.first()).code == .general(5))
      #expect(try await host.call(SMPImage.Erase()).code == .general(6))
      #expect(try await host.setState(nil, confirm: true).get() == ["0:1.2.0 bca", "1:1.3.0 bp"])
      try await host.reset()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.state() == ["0:1.3.0 ba", "1:1.2.0 bc"])
      let other = try await host.call(SMPImage.ReadState()).get().slots[1].hash
      #expect(try await host.setState(other, confirm: false) == .failure(.init(.general(6))))
      // The requested slot is ignored.
      #expect(try await host.call(SMPImage.Erase(slot: 0)).code == .general(6))
    }
  }

  @Test func anUnknownFormatIsRefused() throws {
    try withServer { (host, _) async throws in
      #expect(
        try await host.call(SMPOS.ApplicationInfo(format: "sq")).code == .group(.os, 2))
      #expect(try await host.call(SMPOS.ApplicationInfo(format: "sv")).code == nil)
      // The body is missing: the request has no parameters.
      #expect(try await host.ask("00 00 00 00 00 00 ff 06").hasPrefix("01 00 00 18"))
    }
  }

  // MARK: Buffers

  @Test func severalRequestsInOneWriteAreAnsweredInOrder() throws {
    let echo = "0a 00 00 06 00 00 42 00 a1 61 64 62 68 69"
    let two = hex(echo) + [0, 0] + hex(echo.replacing("42", with: "43"))
    try withServer("&reassembly=no") { (host, _) async throws in
      try await host.send(two)
      #expect(text(try await host.next()) == "0b 00 00 06 00 00 42 00 a1 61 72 62 68 69")
      #expect(text(try await host.next()) == "0b 00 00 06 00 00 43 00 a1 61 72 62 68 69")
    }
    // With reassembly, the write is one message, which is longer than its header states.
    try withServer { (host, _) async throws in
      try await host.send(two)
      #expect(try await host.call(SMPOS.Echo("there")).get().text == "there")
    }
  }

  /// Both buffers contain requests when the first request starts, so no buffer is left for the
  /// response to this request.
  @Test func aRequestWithoutABufferForItsResponseIsRefusedAndLost() throws {
    try withServer("&netbufs=2x384") { (host, _) async throws in
      try await host.post(SMPOS.Echo("lost"))
      try await host.post(SMPOS.Echo("done"))
      #expect(try await host.answer(to: SMPOS.Echo.self).code == .general(2))
      #expect(try await host.answer(to: SMPOS.Echo.self).get().text == "done")
    }
  }
}

extension Result where Failure == SMPRefusal {
  fileprivate var code: SMPRefusal.Code? {
    if case .failure(let refusal) = self { refusal.code } else { nil }
  }
}
