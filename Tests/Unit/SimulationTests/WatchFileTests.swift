import OtaflashATT
import OtaflashSimulation
import Testing

/// Tests of the file service of the simulated watch. The rules are those of InfiniTime,
/// `FSService.cpp`.
@Suite struct WatchFileTests {
  private static let transfer: BluetoothUUID = "adaf0200-4669-6c65-5472-616e73666572"
  private static let version: BluetoothUUID = "adaf0100-4669-6c65-5472-616e73666572"

  private static func path(_ text: String) -> [UInt8] {
    [UInt8(text.utf8.count), 0] + Array(text.utf8)
  }

  private static func write(_ path: String, size: Int, at offset: Int = 0) -> [UInt8] {
    [0x20, 0, UInt8(path.utf8.count), 0] + littleEndian(UInt32(offset))
      + [UInt8](repeating: 0, count: 8) + littleEndian(UInt32(size)) + Array(path.utf8)
  }

  private static func data(_ bytes: [UInt8], at offset: Int = 0, count: Int? = nil) -> [UInt8] {
    [0x22, 1, 0, 0] + littleEndian(UInt32(offset))
      + littleEndian(UInt32(count ?? bytes.count)) + bytes
  }

  private static func read(_ path: String, at offset: Int = 0, count: Int) -> [UInt8] {
    [0x10, 0, UInt8(path.utf8.count), 0] + littleEndian(UInt32(offset))
      + littleEndian(UInt32(count)) + Array(path.utf8)
  }

  private static func makeDirectory(_ text: String) -> [UInt8] {
    [0x40, 0, UInt8(text.utf8.count), 0] + [UInt8](repeating: 0, count: 12) + Array(text.utf8)
  }

  private static func move(_ from: String, _ to: String) -> [UInt8] {
    [0x60, 0, UInt8(from.utf8.count), 0, UInt8(to.utf8.count), 0] + Array(from.utf8) + [0]
      + Array(to.utf8)
  }

  private static func delete(_ text: String) -> [UInt8] { [0x30, 0] + path(text) }

  private static func content(_ offset: Int, of total: Int, _ bytes: [UInt8]) -> [UInt8] {
    [0x11, 1, 0, 0] + littleEndian(UInt32(offset)) + littleEndian(UInt32(total))
      + littleEndian(UInt32(bytes.count)) + bytes
  }

  private func withWatch(
    _ settings: String = "",
    _ body: @escaping @Sendable (inout BareHost, SimulatedBoard) async throws -> Void
  ) throws {
    try withBoard("infinitime?" + settings) { board, _ in
      var host = try await BareHost.connected(to: board)
      try await body(&host, board)
    }
  }

  /// The notifications need no subscription.
  @Test func aFileIsWrittenInPartsAndRead() throws {
    try withWatch { host, _ in
      #expect(try await host.read(Self.version) == [4, 0])
      let opened = try await host.ask(Self.transfer, Self.write("/a", size: 5))
      #expect(opened.prefix(8) == [0x21, 1, 0, 0, 0, 0, 0, 0] && opened.suffix(4) == [5, 0, 0, 0])
      let first = try await host.ask(Self.transfer, Self.data([1, 2, 3]))
      #expect(first.first == 0x21 && first.suffix(4) == [5, 0, 0, 0])
      // The free space is that at the start of the part.
      let second = try await host.ask(Self.transfer, Self.data([4, 5], at: 3))
      #expect(second[4..<8] == [3, 0, 0, 0] && second.suffix(4) == [2, 0, 0, 0])
      let all = try await host.ask(Self.transfer, Self.read("/a", count: 50))
      #expect(all == Self.content(0, of: 5, [1, 2, 3, 4, 5]))
      let rest = try await host.ask(
        Self.transfer, [0x12, 1, 0, 0] + littleEndian(UInt32(4)) + littleEndian(UInt32(9)))
      #expect(rest == Self.content(4, of: 5, [5]))
    }
  }

  @Test func writeDoesNotTruncate() throws {
    try withWatch { host, _ in
      _ = try await host.ask(Self.transfer, Self.write("/a", size: 3))
      _ = try await host.ask(Self.transfer, Self.data([1, 2, 3]))
      _ = try await host.ask(Self.transfer, Self.write("/a", size: 1))
      _ = try await host.ask(Self.transfer, Self.data([9]))
      #expect(
        try await host.ask(Self.transfer, Self.read("/a", count: 9))
          == Self.content(0, of: 3, [9, 2, 3]))
    }
  }

  @Test func littleFSCodesAreReported() throws {
    try withWatch { host, _ in
      var status: [UInt8] = []
      for request in [
        Self.delete("/none"), Self.makeDirectory("/d"), Self.makeDirectory("/d"),
        Self.makeDirectory("/x/y"), Self.makeDirectory("/" + String(repeating: "n", count: 51)),
        Self.move("/none", "/b"),
      ] {
        status.append(try await host.ask(Self.transfer, request)[1])
      }
      #expect(status == [0xFE, 0x01, 0xEF, 0xFE, 0xDC, 0xFE])
      _ = try await host.ask(Self.transfer, Self.write("/d/f", size: 1))
      _ = try await host.ask(Self.transfer, Self.data([7]))
      #expect(try await host.ask(Self.transfer, Self.delete("/d"))[1] == 0xD9)
      #expect(try await host.ask(Self.transfer, Self.move("/d/f", "/d"))[1] == 0xEB)
      #expect(try await host.ask(Self.transfer, Self.move("/d/f", "/g"))[1] == 1)
      #expect(try await host.ask(Self.transfer, Self.delete("/d"))[1] == 1)
      #expect(
        try await host.ask(Self.transfer, Self.read("/d/f", count: 1))
          == [0x11, 0xFE] + [UInt8](repeating: 0, count: 14))
    }
  }

  /// The answer states more bytes than a notification can contain.
  @Test func aLongReadIsTruncatedToTheMTU() throws {
    try withBoard("infinitime") { board, _ in
      var host = try await BareHost.connected(to: board, mtu: 64)
      _ = try await host.ask(Self.transfer, Self.write("/a", size: 80))
      for offset in stride(from: 0, to: 80, by: 40) {
        _ = try await host.ask(
          Self.transfer, Self.data([UInt8](repeating: 5, count: 40), at: offset))
      }
      let answer = try await host.ask(Self.transfer, Self.read("/a", count: 80))
      #expect(answer.count == 61 && answer[12] == 80)
    }
  }

  @Test func aStatedLengthBeyondTheRequestWritesForeignBytes() throws {
    try withWatch { host, _ in
      _ = try await host.ask(Self.transfer, Self.write("/a", size: 8))
      _ = try await host.ask(Self.transfer, Self.data([1], count: 8))
      let answer = try await host.ask(Self.transfer, Self.read("/a", count: 8))
      #expect(answer[8] == 8 && answer[16] == 1)
    }
  }

  @Test func aFullFileSystemRefusesData() throws {
    try withWatch("files=16K") { host, _ in
      let opened = try await host.ask(Self.transfer, Self.write("/a", size: 20_000))
      #expect(opened.suffix(4) == [0, 0x20, 0, 0])
      let failed = try await host.ask(Self.transfer, Self.data([1], at: 9_000))
      #expect(failed[1] == 0xE4)
    }
  }

  /// The handle of a listed directory stays open, and the next change crashes (issue 1579). Reading
  /// a directory, and an incomplete request, also end in a reset.
  @Test func undefinedBehaviorResetsTheWatch() throws {
    let ends: [[[UInt8]]] = [
      [[0x50, 0] + Self.path("/"), Self.delete("/none")], [Self.read("/", count: 1)],
      [[0x10, 0, 1, 0]], [[0x30, 0, 9, 0, 0x2F]], [[0x22]],
    ]
    for requests in ends {
      try withWatch { host, board in
        let resets = board.counters.resets
        for request in requests {
          do { try await host.write(Self.transfer, request) } catch { break }
        }
        await host.waitForEnd()
        #expect(board.counters.resets == resets + 1, "\(requests)")
      }
    }
  }

  @Test func aDirectoryIsListedWithItsDots() throws {
    try withWatch { host, _ in
      _ = try await host.ask(Self.transfer, Self.write("/a", size: 1))
      try await host.write(Self.transfer, [0x50, 0] + Self.path("/"))
      var names: [String] = []
      for index in 0..<4 {
        let entry = try await host.next()
        #expect(entry[0] == 0x51 && entry[4] == UInt8(index) && entry[8] == 3)
        names.append(String(decoding: entry[28...], as: UTF8.self))
      }
      #expect(names == [".", "..", "a", ""])
    }
  }

  @Test func longPathsUnknownRequestsAndMissingPermission() throws {
    try withWatch { host, _ in
      await #expect(throws: BareHost.Fault.refused(ATTErrorCode(0xFF))) {
        try await host.write(Self.transfer, [0x20, 0, 1, 1] + [UInt8](repeating: 0, count: 16))
      }
      try await host.write(Self.transfer, [0x99, 0])
      #expect(host.takeInbox().isEmpty)
    }
    try withWatch("disabled=yes") { host, _ in
      await #expect(throws: BareHost.Fault.refused(.insufficientAuthorization)) {
        _ = try await host.read(Self.version)
      }
      await #expect(throws: BareHost.Fault.refused(.insufficientAuthorization)) {
        try await host.write(Self.transfer, Self.delete("/a"))
      }
    }
  }

  /// Files survive a loss of power; the interrupted change does not happen.
  @Test func filesSurviveALossOfPower() throws {
    try withWatch { host, board in
      _ = try await host.ask(Self.transfer, Self.write("/a", size: 2))
      _ = try await host.ask(Self.transfer, Self.data([1, 2]))
      board.powerCut()
      await host.waitForEnd()
      host = try await BareHost.connected(to: board)
      #expect(
        try await host.ask(Self.transfer, Self.read("/a", count: 9))
          == Self.content(0, of: 2, [1, 2]))
    }
  }
}
