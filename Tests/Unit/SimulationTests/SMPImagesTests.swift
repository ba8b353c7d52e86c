import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import OtaflashWire
import Testing

/// Tests of a server with two images, and of its bootloader's handling of a damaged image.
@Suite struct SMPImagesTests {
  private static let file = BootableFile()

  private func withServer(
    _ settings: String = "",
    _ body: @escaping @Sendable (inout SMPHost, SimulatedBoard) async throws -> Void
  ) throws {
    try withBoard("smp?slot=64K" + settings) { board, clock in
      var host = try await SMPHost.connected(to: board)
      try await body(&host, board)
      #expect(board.flashFaults == [])
    }
  }

  @Test func aServerWithTwoImagesNumbersThem() throws {
    try withServer("&images=2") { (host, _) async throws in
      let slots = try await host.call(SMPImage.ReadState()).get().slots
      #expect(slots.map(\.image) == [0, 1] && slots.map(\.slot) == [0, 0])
      #expect(slots[0].hash != slots[1].hash)
      let images = try await host.call(SMPImage.SlotInfo()).get().images
      #expect(images.map(\.image) == [0, 1])
      #expect(images.map { $0.slots.map(\.uploadImage) } == [[nil, 0], [nil, 1]])
    }
    try withServer { (host, _) async throws in
      #expect(try await host.call(SMPImage.ReadState()).get().slots.map(\.image) == [nil])
    }
  }

  @Test(arguments: [true, false])
  func theSecondImageIsTestedAndConfirmedByItsHash(mayConfirm: Bool) throws {
    let settings = "&images=2&confirm-others=\(mayConfirm ? "yes" : "no")"
    try withServer(settings) { (host, board) async throws in
      let before = try board.runningImages()
      var announcement = SMPHost.announce(Self.file.bytes)
      announcement.image = 1
      #expect(try await host.upload(Self.file.bytes, as: announcement).matches == true)
      #expect(try await host.state() == ["0:1.2.0 bca", "0:1.2.0 bca", "1:1.3.0 b"])
      _ = try await host.setState(Self.file.hash, confirm: false).get()
      #expect(try await host.state() == ["0:1.2.0 bca", "0:1.2.0 bca", "1:1.3.0 bp"])
      try await host.reset()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.state() == ["0:1.2.0 bca", "0:1.3.0 ba", "1:1.2.0 bc"])
      #expect(try board.runningImages() == [before[0], Self.file.bytes])
      let confirmed = try await host.setState(Self.file.hash, confirm: true)
      if mayConfirm {
        #expect(try confirmed.get() == ["0:1.2.0 bca", "0:1.3.0 bca", "1:1.2.0 b"])
      } else {
        #expect(confirmed == .failure(SMPRefusal(.group(.image, 32))))
      }
      try await host.reset()
      host = try await SMPHost.connected(to: board)
      #expect(try board.runningImages()[1] == (mayConfirm ? Self.file.bytes : before[1]))
    }
  }

  @Test func theSlotsOfBothImagesAreNumberedConsecutively() throws {
    try withServer("&images=2") { (host, _) async throws in
      #expect(
        try await host.call(SMPImage.Erase(slot: 2)) == .failure(SMPRefusal(.group(.image, 9))))
      #expect(try await host.call(SMPImage.Erase(slot: 3)) == .success(SMPDone()))
      #expect(
        try await host.call(SMPImage.Erase(slot: 4)) == .failure(SMPRefusal(.group(.image, 14))))
    }
  }

  /// The bootloader erases a damaged image, so that the next host sends it again.
  @Test(arguments: ["", "&mode=direct-xip"])
  func aDamagedImageIsListedUntilTheNextBoot(settings: String) throws {
    try withServer("&check=no" + settings) { (host, board) async throws in
      var damaged = Self.file
      damaged.body[5000] ^= 1
      let bytes = damaged.hashed + Self.file.bytes.dropFirst(damaged.hashed.count)
      _ = try await host.upload(bytes)
      #expect(try await host.state().count == 2)
      if settings.isEmpty { _ = try await host.setState(Self.file.hash, confirm: false).get() }
      try await host.reset()
      host = try await SMPHost.connected(to: board)
      #expect(try await host.state().count == 1)
    }
  }
}
