import Crypto
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashWire
import Testing

@testable import OtaflashUpdate

/// Tests of images that the bootloader decompresses.
extension SMPSessionTests {
  private static func compressed() throws -> FirmwareImage {
    let bytes = SampleImage.compressed(
      [UInt8](repeating: 7, count: 5_000), version: FirmwareVersion(1, 1, 0))
    return FirmwareImage(
      name: "lzma2.bin", format: .binary, bytes: bytes, version: FirmwareVersion(1, 1, 0),
      hardware: nil, content: .mcuboot(try MCUbootImage(decoding: bytes), place: MCUbootPlace()))
  }

  @Test(
    "a decompressed image runs, and is confirmed",
    arguments: [MCUbootMode.overwriteOnly, .unknown])
  func decompressed(mode: MCUbootMode) throws {
    let server = Self.server { settings in
      settings.mode = mode
      settings.decompresses = true
    }
    let image = try Self.compressed()
    try expectFlashed(try update(server, to: image), server, image)
    // The image already runs, and is reported by its decompressed hash.
    let sent = server.state.uploadRequests
    let again = try update(server, to: image)
    #expect(try again.outcome.get().outcome == .alreadyCurrent)
    #expect(server.state.uploadRequests == sent)
  }

  /// Compressed bytes cannot run. The file's hash, reported as running, is therefore as wrong as
  /// any other hash.
  @Test(
    "the update fails if the running hash is not the hash of the decompressed image",
    arguments: [MCUbootMode.overwriteOnly, .unknown], [true, false])
  func notDecompressed(mode: MCUbootMode, tellsFile: Bool) throws {
    let image = try Self.compressed()
    let hash = tellsFile ? image.mcuboot?.hash?.bytes : [UInt8](repeating: 9, count: 32)
    let server = Self.server { settings in
      settings.mode = mode
      settings.toldHash = hash
    }
    let result = try update(server, to: image)
    guard case .failure = result.outcome else { throw Mismatch(result.outcome) }
    #expect(server.state.uploadRequests > 0)
  }

  @Test("the decompressed hash of an uncompressed image is ignored")
  func strayEntry() throws {
    let image = try Self.compressed()
    var bytes = image.bytes
    // The flag is cleared; the hash still covers the complete image.
    bytes[17] = 0
    let covered = bytes.count - 40
    bytes.replaceSubrange((covered + 8)..., with: Array(SHA256.hash(data: bytes[..<covered])))
    let mcuboot = try MCUbootImage(decoding: bytes)
    let plain = FirmwareImage(
      name: "app.bin", format: .binary, bytes: bytes, version: FirmwareVersion(1, 1, 0),
      hardware: nil, content: .mcuboot(mcuboot, place: MCUbootPlace()))
    let server = Self.server { $0.toldHash = image.mcuboot?.decompressedHash }
    let result = try update(server, to: plain)
    guard case .failure = result.outcome else { throw Mismatch(result.outcome) }
  }

  @Test(
    "a bootloader that does not overwrite the old image receives no compressed image",
    arguments: [
      MCUbootMode.swapUsingScratch, .swapWithoutScratch, .directXIP, .directXIPWithRevert, .ramLoad,
    ])
  func compressedForOtherModes(mode: MCUbootMode) throws {
    let server = Self.server { $0.mode = mode }
    #expect(
      try update(server, to: try Self.compressed()).outcome
        == .failure(.declined(.prepare, .compressed(for: mode))))
    #expect(server.state.uploadRequests == 0)
  }

  @Test("a compressed image must fit slot 1, and the decompressed image slot 0")
  func compressedSizes() throws {
    let image = try Self.compressed()
    let decompressed = try #require(image.mcuboot?.decompressedSize)
    func outcome(
      _ first: Int, _ second: Int?
    ) throws -> Result<UpdateResult, UpdateFault> {
      let server = Self.server { settings in
        (settings.slotSize, settings.secondSlotSize) = (first, second)
        settings.mode = .overwriteOnly
        settings.decompresses = true
      }
      return try update(server, to: image).outcome
    }
    let size = image.bytes.count
    #expect(decompressed > size)
    #expect(try outcome(decompressed, size).get().outcome == .flashed)
    #expect(
      try outcome(decompressed, size - 1)
        == .failure(.doesNotFit(imageSize: size, slotSize: size - 1)))
    #expect(
      try outcome(decompressed - 1, 0x10000)
        == .failure(
          .declined(.prepare, .decompressedTooLarge(decompressed, slot: decompressed - 1))))
  }

  @Test("a compressed image without a description of its decompressed form is not sent")
  func notStated() throws {
    let image = try Self.compressed()
    var bytes = image.bytes
    let entry = try #require(image.mcuboot?.decompressedHash)
    let at = try #require(
      bytes.indices.first { bytes[$0...].starts(with: [0x71, 0, 32, 0] + entry) })
    bytes[at] = 0xA1
    let mcuboot = try MCUbootImage(decoding: bytes)
    let silent = FirmwareImage(
      name: "app.bin", format: .binary, bytes: bytes, version: FirmwareVersion(1, 1, 0),
      hardware: nil, content: .mcuboot(mcuboot, place: MCUbootPlace()))
    let server = Self.server()
    #expect(
      try update(server, to: silent).outcome
        == .failure(.declined(.prepare, .decompressedNotStated)))
    #expect(server.state.uploadRequests == 0)
  }
}
