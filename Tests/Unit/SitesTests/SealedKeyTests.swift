#if Sites
import OtaflashFleet
import OtaflashSites
import Testing

/// Keys of devices, encrypted for the gateways of a site.
@Suite struct SealedKeyTests {
  static let secret = (0..<16).map { UInt8(0xA0 + $0) }
  static let purpose = SealedKeyPurpose(site: "kitchen", run: "r1", device: "C0:FF:EE:00:00:01")
  let first = GatewayPrivateKey()
  let second = GatewayPrivateKey()
  let stranger = GatewayPrivateKey()

  func sealed(
    _ key: [UInt8] = secret, for purpose: SealedKeyPurpose = purpose
  ) throws -> SealedKey {
    try SealedKey(key, for: purpose, gateways: [first.publicKey, second.publicKey])
  }

  @Test func eachGatewayOfTheSiteOpensIt() throws {
    let box = try sealed()
    for key in [first, second] {
      #expect(try box.open(for: Self.purpose, with: key) == Self.secret)
    }
    // A key of another length can be sealed. Sealing the same key again yields another box.
    #expect(try sealed([]).open(for: Self.purpose, with: first) == [])
    #expect(try sealed() != box)
    #expect(box.box.count == 2 + 2 * (8 + 32 + 16 + 16))
  }

  @Test func anotherGatewayCannotOpenIt() throws {
    #expect(throws: KeySealFault.otherGateway) {
      try sealed().open(for: Self.purpose, with: stranger)
    }
  }

  /// A box that is copied into the job of another site, run or device cannot be opened.
  @Test(arguments: [
    SealedKeyPurpose(site: "kitchen", run: "r1", device: "C0:FF:EE:00:00:02"),
    SealedKeyPurpose(site: "kitchen", run: "r2", device: "C0:FF:EE:00:00:01"),
    SealedKeyPurpose(site: "kitchen", run: "r1C", device: "0:FF:EE:00:00:01"),
    SealedKeyPurpose(site: "hall", run: "r1", device: "C0:FF:EE:00:00:01"),
  ])
  func anotherPurposeDoesNotOpenIt(_ purpose: SealedKeyPurpose) throws {
    let box = try sealed()
    // The site is changed as well, so that only the encryption can detect the copy.
    let copy = SealedKey(site: purpose.site, box: box.box)
    #expect(throws: KeySealFault.damaged) { try copy.open(for: purpose, with: first) }
    if purpose.site != box.site {
      #expect(throws: KeySealFault.otherSite("kitchen")) {
        try box.open(for: purpose, with: first)
      }
    }
  }

  @Test func eachChangedBitIsDetected() throws {
    let box = try sealed()
    // The version, the number of parts, and the part of the first gateway.
    for index in 0..<(2 + 8 + 32 + 16 + 16) {
      for bit in 0..<8 {
        var bytes = box.box
        bytes[index] ^= 1 << bit
        #expect(throws: KeySealFault.self, "byte \(index), bit \(bit)") {
          try SealedKey(site: box.site, box: bytes).open(for: Self.purpose, with: first)
        }
      }
    }
    for length in 0..<box.box.count {
      #expect(throws: KeySealFault.self) {
        try SealedKey(site: box.site, box: Array(box.box.prefix(length)))
          .open(for: Self.purpose, with: second)
      }
    }
  }

  @Test func aSiteNeedsGateways() {
    #expect(throws: KeySealFault.noGateway(site: "kitchen")) {
      try SealedKey(Self.secret, for: Self.purpose, gateways: [])
    }
    let many = [GatewayPublicKey](repeating: first.publicKey, count: 65)
    #expect(throws: KeySealFault.tooManyGateways(site: "kitchen")) {
      try SealedKey(Self.secret, for: Self.purpose, gateways: many)
    }
    #expect(throws: KeySealFault.tooLarge) {
      try SealedKey(
        [UInt8](repeating: 0, count: 1025), for: Self.purpose, gateways: [first.publicKey])
    }
  }

  @Test func noTextContainsASecret() throws {
    let box = try sealed()
    #expect("\(box)" == "a key for site kitchen")
    for text in ["\(first)", String(reflecting: first)] {
      #expect(!text.contains(first.secretText))
    }
    let faults: [KeySealFault] = [
      .noGateway(site: "a"), .tooManyGateways(site: "a"), .otherSite("a"), .otherGateway,
      .damaged, .tooLarge,
    ]
    #expect(faults.allSatisfy { !"\($0)".isEmpty })
  }

  @Test func keysSurviveAsText() throws {
    #expect(GatewayPublicKey(first.publicKey.text) == first.publicKey)
    #expect(GatewayPrivateKey(first.secretText)?.publicKey == first.publicKey)
    for text in ["", "AAAA", "not Base64", first.publicKey.text + "A"] {
      #expect(GatewayPublicKey(text) == nil && GatewayPrivateKey(text) == nil)
    }
  }
}
#endif
