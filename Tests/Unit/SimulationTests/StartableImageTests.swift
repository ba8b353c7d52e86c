import Crypto
import OtaflashGATT
import OtaflashSimulation
import OtaflashTestSupport
import OtaflashUpdate
import OtaflashWire
import Testing

/// Tests of the requirements of a simulated MCUboot for an image to start.
@Suite struct StartableImageTests {
  private static let key = Curve25519.Signing.PrivateKey()
  /// The header of an Ed25519 key in its `SubjectPublicKeyInfo`.
  private static let head = hex("30 2a 30 05 06 03 2b 65 70 03 21 00")

  private static func digits(_ bytes: [UInt8]) -> String { text(bytes).replacing(" ", with: "") }

  /// Returns the image with a TLV that identifies the key, and a TLV with the signature.
  private static func signed(
    _ file: BootableFile, by key: Curve25519.Signing.PrivateKey, damaged: Bool = false
  ) throws -> [UInt8] {
    let der = head + key.publicKey.rawRepresentation
    var signature = Array(try key.signature(for: file.hash))
    if damaged { signature[10] ^= 1 }
    return file.hashed + hex("07 69 90 00 10 00 20 00") + file.hash + hex("01 00 20 00")
      + SHA256.hash(data: der) + hex("24 00 40 00") + signature
  }

  /// Returns whether the image runs after it was sent and put on trial, and the device was reset.
  private func runs(_ bytes: [UInt8], hash: [UInt8], on settings: String) throws -> Bool {
    try withBoard("smp?slot=64K&erase=0&write=0" + settings) { board, _ in
      var host = try await SMPHost.connected(to: board)
      _ = try await host.upload(bytes)
      _ = try await host.setState(hash, confirm: false).get()
      try await host.reset()
      host = try await SMPHost.connected(to: board)
      #expect(board.flashFaults == [])
      return try board.runningImage() == bytes
    }
  }

  @Test func aSignatureByTheBootloadersKeyIsRequired() throws {
    let file = BootableFile()
    let signed = "&signed=" + Self.digits(Self.head + Self.key.publicKey.rawRepresentation)
    let good = try Self.signed(file, by: Self.key)
    #expect(try runs(good, hash: file.hash, on: signed))
    #expect(try runs(good, hash: file.hash, on: signed + "&mode=overwrite"))
    let damaged = try Self.signed(file, by: Self.key, damaged: true)
    #expect(try !runs(damaged, hash: file.hash, on: signed))
    let foreign = try Self.signed(file, by: Curve25519.Signing.PrivateKey())
    #expect(try !runs(foreign, hash: file.hash, on: signed))
    #expect(try !runs(file.bytes, hash: file.hash, on: signed), "not signed")
    // A bootloader without a key does not verify signatures.
    #expect(try runs(damaged, hash: file.hash, on: ""))
  }

  @Test(arguments: ["root-rsa-2048", "root-ec-p256", "root-ed25519"])
  func mcubootsTestKeysRejectOtherSignatures(key: String) throws {
    let file = BootableFile()
    let foreign = try Self.signed(file, by: Self.key)
    #expect(try !runs(foreign, hash: file.hash, on: "&signed=" + key))
  }

  @Test(arguments: ["", "root-ed448", "3059", "00"])
  func malformedKeysAreRefused(text: String) throws {
    #expect(throws: ProfileFault.self) { try SimulationProfile(parsing: "smp?signed=" + text) }
  }

  /// The flags mark the images as encrypted (with a key of 128 or 256 bits), not bootable, or
  /// compressed.
  @Test(arguments: [0x4, 0x8, 0x10, 0x200, 0x400, 0xC00] as [UInt32])
  func imagesThatABootloaderCannotStartDoNotRun(flags: UInt32) throws {
    let file = BootableFile(flags: flags)
    #expect(try !runs(file.bytes, hash: file.hash, on: ""))
    #expect(try !runs(file.bytes, hash: file.hash, on: "&decompress=yes"), "no compression TLVs")
  }

  @Test func aDecompressedImageHasAnotherHash() throws {
    let bytes = SampleImage.compressed(makeImage(9_000), version: .init(1, 3, 0))
    try withBoard("smp?slot=64K&erase=0&write=0&decompress=yes&mode=overwrite") { board, _ in
      var host = try await SMPHost.connected(to: board)
      _ = try await host.upload(bytes)
      let sent = try #require(try await host.call(SMPImage.ReadState()).get().slots[1].hash)
      _ = try await host.setState(sent, confirm: false).get()
      try await host.reset()
      host = try await SMPHost.connected(to: board)
      let running = try await host.call(SMPImage.ReadState()).get().slots[0]
      #expect(running.version == "1.3.0" && running.hash != sent && running.hash?.count == 32)
      // The running image is found by its own hash, and not by the hash of the compressed image.
      #expect(
        try await host.setState(running.hash, confirm: false)
          == .failure(SMPRefusal(.group(.image, 33))))
      #expect(
        try await host.setState(sent, confirm: false) == .failure(SMPRefusal(.group(.image, 8))))
    }
  }
}
