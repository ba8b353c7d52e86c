import OtaflashFirmware
import Testing

@Suite("Hash and signature on the host")
struct ProofTests {
  private static let keys = ["rsa-2048", "rsa-3072", "ecdsa-p256", "ecdsa-p384", "ed25519"]

  private static func key(_ name: String) throws -> VerificationKey {
    try Fixture.key("MCUboot/" + name)
  }

  /// Returns the fault of an image that is checked with a key: in its structure, its hash or its
  /// signature.
  private static func fault(of bytes: [UInt8], by key: VerificationKey) -> (any Error)? {
    do {
      try FirmwareImage.decode(name: "a.bin", bytes: bytes).checkSignature(by: key)
      return nil
    } catch {
      return error
    }
  }

  @Test("an image of every algorithm passes only with its key", arguments: keys)
  func everyAlgorithm(_ name: String) throws {
    let image = try Fixture.image("MCUboot/\(name).bin")
    let hash = try image.checkIntegrity()
    #expect(hash == .whole(name == "ecdsa-p384" ? "SHA-384" : "SHA-256"))
    for other in Self.keys {
      let key = try Self.key(other)
      if other == name {
        #expect(throws: Never.self) { try image.checkSignature(by: key) }
      } else {
        let fault = #expect(throws: ProofFault.self) { try image.checkSignature(by: key) }
        #expect(fault?.isAboutTheKey == true, "\(name) by \(other)")
      }
    }
  }

  @Test(
    "images signed in other ways pass",
    arguments: [
      ("ed25519-pure", "ed25519"), ("ed25519-sha512", "ed25519"),
      ("ecdsa-p256-padded", "ecdsa-p256"), ("full-public-key", "ed25519"),
      ("every-entry", "ed25519"), ("confirmed", "ed25519"), ("test-aligned-32", "ed25519"),
      ("two-signatures", "rsa-2048"), ("two-signatures", "ed25519"),
    ])
  func variants(image: String, key: String) throws {
    let image = try Fixture.image("MCUboot/\(image).bin")
    #expect(throws: Never.self) { try image.checkSignature(by: Self.key(key)) }
  }

  @Test("a changed bit anywhere is detected", arguments: keys + ["every-entry", "ed25519-pure"])
  func everyByte(_ name: String) throws {
    let bytes = try Fixture.bytes("MCUboot/\(name).bin")
    let key = try Self.key(Self.keys.contains(name) ? name : "ed25519")
    // Except for the images whose names start with `ed25519`, only every fifth byte and each byte
    // after the signed part are tested.
    let entries = try MCUbootImage(decoding: bytes).coveredSize
    let step = name.hasPrefix("ed25519") ? 1 : 5
    for index in bytes.indices where index.isMultiple(of: step) || index >= entries {
      let changed = bytes.replacing(index, by: bytes[index] ^ 1 << UInt8(index % 8))
      #expect(Self.fault(of: changed, by: key) != nil, "\(name), byte \(index)")
    }
  }

  @Test("a changed body is detected, even if the hash is forged")
  func forgedHash() throws {
    let bytes = try Fixture.bytes("MCUboot/ed25519.bin").replacing(100, by: 0)
    let image = try FirmwareImage.decode(name: "a", bytes: bytes)
    let fault = #expect(throws: ProofFault.self) { _ = try image.checkIntegrity() }
    guard case .hashDiffers(_, let computed) = fault else {
      Issue.record("\(String(describing: fault))")
      return
    }
    // The hash entry is the first entry: type, length, 32 bytes.
    let start = try MCUbootImage(decoding: bytes).coveredSize + 8
    var forgedBytes = bytes
    forgedBytes.replaceSubrange(start..<(start + 32), with: computed)
    let forged = try FirmwareImage.decode(name: "a", bytes: forgedBytes)
    #expect(try forged.checkIntegrity() == .whole("SHA-256"))
    #expect(throws: ProofFault.signatureWrong) {
      try forged.checkSignature(by: Self.key("ed25519"))
    }
  }

  @Test("unsigned files never pass")
  func unsigned() throws {
    let image = try Fixture.image("MCUboot/unsigned.bin")
    #expect(try image.checkIntegrity() == .whole("SHA-256"))
    let raw = try FirmwareImage.decode(name: "a", bytes: [1, 2, 3])
    #expect(try raw.checkIntegrity() == .notStated)
    for name in Self.keys {
      let key = try Self.key(name)
      #expect(throws: ProofFault.unsigned) { try image.checkSignature(by: key) }
      #expect(throws: ProofFault.notSignable) { try raw.checkSignature(by: key) }
    }
  }

  @Test("an encrypted image never passes")
  func encrypted() throws {
    let image = try Fixture.image("MCUboot/encrypted.bin")
    #expect(try image.checkIntegrity() == .encrypted)
    #expect(throws: ProofFault.encrypted) { try image.checkSignature(by: Self.key("ed25519")) }
  }

  @Test("bytes after the image are refused, but padding is accepted")
  func rest() throws {
    let bytes = try Fixture.bytes("MCUboot/ed25519.bin")
    let key = try Self.key("ed25519")
    #expect(Self.fault(of: bytes + [0xFF, 0xFF], by: key) == nil)
    #expect(Self.fault(of: bytes + [0, 0, 0], by: key) == nil)
    #expect(
      Self.fault(of: bytes + [0xFF, 1], by: key) as? ProofFault
        == .uncovered(offset: bytes.count, count: 2))
    let confirmed = try Fixture.bytes("MCUboot/confirmed.bin")
    let size = try MCUbootImage(decoding: confirmed).size
    #expect(
      Self.fault(of: confirmed.replacing(size + 100, by: 7), by: key) as? ProofFault
        == .uncovered(offset: size, count: confirmed.count - size - 40))
  }

  @Test("an image from Intel HEX or UF2 is verified as well")
  func otherFiles() throws {
    let bytes = try Fixture.bytes("MCUboot/ed25519.bin")
    for file in ["MCUboot/ed25519.hex", "UF2/ed25519.uf2"] {
      let package = try Fixture.package(file)
      #expect(package.kind == .mcuboot)
      let image = try package.onlyImage()
      #expect(image.bytes == bytes)
      #expect(image.layout?.lowestAddress == 0x10000)
      #expect(image.version == FirmwareVersion(1, 2, 3))
      #expect(throws: Never.self) { try image.checkSignature(by: Self.key("ed25519")) }
    }
  }

  @Test("a key file contains one public key of a known kind")
  func keyFiles() throws {
    #expect(
      try Self.keys.map { try Self.key($0).algorithm } == [
        .rsa2048, .rsa3072, .ecdsaP256, .ecdsaP384, .ed25519,
      ])
    func fault(_ text: String) -> VerificationKeyFault? {
      do throws(VerificationKeyFault) {
        _ = try VerificationKey(pem: Array(text.utf8))
        return nil
      } catch {
        return error
      }
    }
    let pem = String(decoding: try Fixture.bytes("MCUboot/ed25519.pub.pem"), as: UTF8.self)
    #expect(fault(pem) == nil)
    #expect(fault(pem.replacing("\n", with: "\r\n")) == nil)
    #expect(fault(pem.replacing("PUBLIC", with: "PRIVATE")) == .privateKey)
    #expect(fault(pem.replacing("PUBLIC", with: "EC PRIVATE")) == .privateKey)
    #expect(fault(pem + pem) == .severalKeys(2))
    #expect(
      fault(pem.replacing("PUBLIC KEY", with: "CERTIFICATE")) == .notAPublicKey("CERTIFICATE"))
    #expect(fault("") == .notPEM)
    #expect(fault("ssh-ed25519 AAAA") == .notPEM)
    #expect(fault(String(repeating: "A", count: 20_000)) == .tooLarge(limit: 16384))
    #expect(
      fault("-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA\n-----END PUBLIC KEY-----\n")
        == .malformed)
    // An X25519 key cannot sign. The key has the layout of an Ed25519 key (RFC 8410, 10.2), with
    // the identifier 1.3.101.110.
    let point = "MCowBQYDK2VuAyEAhSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo="
    #expect(
      fault("-----BEGIN PUBLIC KEY-----\n\(point)\n-----END PUBLIC KEY-----\n")
        == .unknownAlgorithm("1.3.101.110"))
    #expect(throws: VerificationKeyFault.notPEM) { try VerificationKey(pem: [0xFF, 0xFE]) }
  }
}
