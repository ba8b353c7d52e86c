import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of the single operations on slots that the command line offers.
@Suite struct SMPSlotsTests {
  private static let old = bootableBytes(MCUbootVersion(1, 0, 0), seed: 9)

  private func perform(
    _ action: SMPSlots.Action, on server: FakeServer, image: Int = 0
  ) throws -> Result<SMPSlots.Listing, UpdateFault> {
    try withServer(server) { (dialer, clock) -> Result<SMPSlots.Listing, UpdateFault> in
      do throws(UpdateFault) {
        return .success(
          try await SMPSlots(action, image: image).run(on: dialer, clock: clock))
      } catch {
        return .failure(error)
      }
    }.value
  }

  private func reset(_ server: FakeServer) throws -> UpdateFault? {
    try withServer(server) { (dialer, clock) -> UpdateFault? in
      do throws(UpdateFault) {
        try await SMPReset().run(on: dialer, clock: clock)
        return nil
      } catch {
        return error
      }
    }.value
  }

  /// A server with a second image in its other slot.
  private func twoImages() throws -> (server: FakeServer, image: FirmwareImage) {
    let image = try bootable(MCUbootVersion(1, 1, 0))
    let ready = FakeServer(running: Self.old)
    ready.place(image.bytes)
    return (ready, image)
  }

  @Test("a list contains the content of each slot, its size and the mode")
  func list() throws {
    let listing = try perform(.list, on: FakeServer(running: Self.old)).get()
    #expect(listing.mode == .swapUsingScratch)
    #expect(listing.sizes.map(\.bytes) == [0x10000, 0x10000])
    let slot = try #require(listing.slots.first)
    #expect(listing.slots.count == 1 && slot.version == "1.0.0")
    #expect(slot.isActive && slot.isConfirmed && !slot.isPending && slot.isBootable)
  }

  @Test("an image is put on trial, runs after a reset, and is permanent when confirmed")
  func trial() throws {
    let (server, image) = try twoImages()
    let pending = try perform(.test(hashPrefix: nil), on: server).get()
    #expect(pending.slots.contains { $0.slot == 1 && $0.isPending && !$0.isPermanent })
    #expect(try reset(server) == nil)
    #expect(server.runningImage == image.bytes && !server.state.confirmed)
    let confirmed = try perform(.confirm, on: server).get()
    #expect(confirmed.slots.contains { $0.isActive && $0.isConfirmed })
    #expect(server.state.confirmed)
  }

  @Test("an unconfirmed image is reverted by the next reset")
  func revert() throws {
    let (server, _) = try twoImages()
    _ = try perform(.test(hashPrefix: nil), on: server).get()
    _ = try reset(server)
    _ = try reset(server)
    #expect(server.runningImage == Self.old)
  }

  @Test("a hash selects an image; without a match, no image is selected")
  func hash() throws {
    let (server, image) = try twoImages()
    let hash = try #require(image.mcuboot?.hash?.bytes)
    #expect(
      try perform(.test(hashPrefix: [hash[0] ^ 1]), on: server)
        == .failure(.declined(.activate, .noCandidate)))
    #expect(
      try perform(.test(hashPrefix: []), on: server)
        == .failure(.declined(.activate, .severalCandidates)))
    let pending = try perform(.test(hashPrefix: Array(hash.prefix(4))), on: server).get()
    #expect(pending.slots.contains { $0.hash == hash && $0.isPending })
  }

  @Test("a slot is erased, but never the active slot")
  func erase() throws {
    let (server, _) = try twoImages()
    #expect(
      try perform(.erase(slot: 0), on: server) == .failure(.declined(.prepare, .runs(0))))
    #expect(server.state.erases == 0)
    #expect(try perform(.erase(slot: 1), on: server).get().slots.count == 1)
    #expect(server.state.erases == 1)
  }
}
