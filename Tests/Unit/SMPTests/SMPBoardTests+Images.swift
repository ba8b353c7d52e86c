import OtaflashFirmware
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of packages with several images, and of devices that cannot mark any image.
extension SMPBoardTests {
  /// A package with one image for each index: 0 for the application, 1 for another core.
  private static func package(
    _ indices: [Int], version: MCUbootVersion = MCUbootVersion(2, 0, 0)
  ) throws -> FirmwarePackage {
    FirmwarePackage(
      name: "dfu.zip", kind: .deviceManager,
      parts: try indices.map { index in
        let bytes = bootableBytes(version, size: 9_000 + 1_000 * index, seed: UInt64(index) + 1)
        return FirmwareImage(
          name: "app.bin", format: .binary, bytes: bytes,
          version: version.firmwareVersion, hardware: nil,
          content: .mcuboot(
            try MCUbootImage(decoding: bytes), place: MCUbootPlace(imageIndex: index)))
      })
  }

  @Test(
    "both images of a package run at the end, and are permanent",
    arguments: ["", "&mode=overwrite", "&mode=direct-xip", "&mode=direct-xip-revert", "&params=no"])
  func twoImages(settings: String) throws {
    let package = try Self.package([0, 1])
    let result = try Self.flash(package, onto: "slot=64K&images=2" + settings)
    let update = try result.outcome.get()
    #expect(update.outcome == .flashed && update.proof == .readBack)
    #expect(result.runningImages == package.parts.map(\.bytes))
    #expect(result.flashFaults == [])
    let parts = result.events.compactMap { event in
      if case .part(_, let number, of: 2) = event { number } else { nil }
    }
    #expect(parts == [1, 2])
    // The next reset must not revert any image.
    #expect(try result.imagesAfterReset() == package.parts.map(\.bytes))
  }

  @Test(
    "the application is marked last, so that the network core is also updated",
    arguments: [[0, 1], [1, 0]])
  func networkCore(order: [Int]) throws {
    let package = try Self.package(order)
    let result = try Self.flash(package, onto: "slot=64K&images=2&netcore=nrf5340")
    #expect(try result.outcome.get().proof == .readBack)
    let sent = order.sorted().map { package.parts[order[$0]].bytes }
    let connections = result.events.count { if case .connected = $0 { true } else { false } }
    #expect(result.runningImages == sent && connections == 2, "one restart")
    #expect(try result.imagesAfterReset() == sent)
  }

  @Test("a device that cannot mark an image automatically starts the higher version")
  func ramLoadWithoutInformation() throws {
    let image = try Self.image()
    let settings = "slot=64K&mode=ram-load&bootinfo=no"
    try expectFlashed(try Self.flash(image, onto: settings), image)
    let older = try bootable(MCUbootVersion(1, 1, 0), size: 9_000, seed: 3)
    let refused = try Self.flash(older, onto: settings) { $0.allowsDowngrade = true }
    guard case .failure(.reverted) = refused.outcome else { throw Mismatch(refused.outcome) }
  }

  @Test("a package with an image number unknown to the device is refused before the first byte")
  func imageThatIsNotThere() throws {
    let result = try Self.flash(try Self.package([0, 1]), onto: "slot=64K")
    guard case .failure(.declined(.prepare, let refusal)) = result.outcome else {
      throw Mismatch(result.outcome)
    }
    #expect(refusal.kind == .unsuitable && refusal.meaning == "it has no image 1")
    #expect(result.counters.flashOperations == 0)
    #expect(!result.events.contains(.stageBegan(.prepare)))
  }

  @Test("an update of only the second image leaves the first unchanged")
  func secondImage() throws {
    let package = try Self.package([1])
    let result = try Self.flash(package, onto: "slot=64K&images=2")
    #expect(try result.outcome.get().outcome == .flashed)
    #expect(result.runningImages[0] == result.before[0])
    #expect(result.runningImages[1] == package.parts[0].bytes)
  }

  @Test("server and host report that other images cannot be confirmed")
  func confirmationDenied() throws {
    let result = try Self.flash(
      try Self.package([0, 1]), onto: "slot=64K&images=2&confirm-others=no")
    guard case .failure(.declined(.confirm, let refusal)) = result.outcome else {
      throw Mismatch(result.outcome)
    }
    #expect(refusal.code == "image 32")
  }

  /// The power fails when one of two images is marked, so the device runs one new image on trial.
  /// The restart into the other image must not revert the first image.
  @Test("a device that restarts between two marks ends with both images", arguments: 6...13)
  func restartBetweenMarks(operation: Int) throws {
    let package = try Self.package([0, 1])
    let result = try Self.flash(
      package, onto: "slot=64K&images=2&erase=0&write=0&reset-at-flash-op=\(operation)")
    #expect(try result.outcome.get().outcome == .flashed)
    #expect(result.runningImages == package.parts.map(\.bytes))
    #expect(try result.imagesAfterReset() == package.parts.map(\.bytes))
  }
}
