/// Why an image is not what it says, or not by whom it must be. Nothing was sent.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ProofFault: Error, Equatable, Sendable {
  /// The image must carry a hash of itself, and does not.
  case hashMissing
  /// The image, or a part of it, was changed after it was made.
  case hashDiffers(stated: [UInt8], computed: [UInt8])
  /// The image carries no signature.
  case unsigned
  /// The image is signed, but by another key: the hash of that key, and of the one asked for.
  case otherKey(stated: [UInt8], wanted: [UInt8])
  /// The image is signed by a key of another algorithm.
  case otherAlgorithm(image: String, key: VerificationKey.Algorithm)
  /// The signature is not one of this key's for this image.
  case signatureWrong
  /// Hash and signature cover what only the device can decrypt.
  case encrypted
  /// Bytes behind the image that are neither fill nor a trailer, and that nothing covers.
  case uncovered(offset: Int, count: Int)
  /// An image of a kind that carries no signature.
  case notSignable
}

extension ProofFault {
  /// The image may be genuine, but the key is not the one it was signed with.
  public var isAboutTheKey: Bool {
    switch self {
    case .otherKey, .otherAlgorithm: true
    case .hashMissing, .hashDiffers, .unsigned, .signatureWrong, .encrypted, .uncovered,
      .notSignable:
      false
    }
  }
}

extension ProofFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .hashMissing: "it carries no hash of itself"
    case .hashDiffers(let stated, let computed):
      "its hash is \(Self.short(computed)), it says \(Self.short(stated)); it was changed"
    case .unsigned: "it is not signed"
    case .otherKey(let stated, let wanted):
      "it is signed by the key with hash \(Self.short(stated)), not by that with "
        + Self.short(wanted)
    case .otherAlgorithm(let image, let key): "it has an \(image), the key is for \(key.rawValue)"
    case .signatureWrong: "its signature does not match"
    case .encrypted: "it is encrypted, so its hash and signature cannot be checked here"
    case .uncovered(let offset, let count):
      "\(count) bytes from offset \(offset) on are covered by no hash or signature"
    case .notSignable: "a file of this kind carries no signature"
    }
  }

  /// Enough digits to tell two hashes apart.
  private static func short(_ hash: [UInt8]) -> String {
    hash.prefix(4).map { $0.hexadecimal }.joined().lowercased() + "…"
  }
}

extension ProofFault {
  /// What it means: a whole sentence.
  public var explanation: String {
    switch self {
    case .hashMissing, .hashDiffers:
      "A bootloader would refuse it, after all of it was sent; nothing was sent."
    case .otherKey, .otherAlgorithm:
      "It may be genuine, but not by the owner of this key; nothing was sent."
    case .unsigned, .notSignable:
      "Only images that the owner of the key has signed were asked for; nothing was sent."
    case .signatureWrong:
      "It was changed after it was signed, or signed by somebody else; nothing was sent."
    case .encrypted: "Only the device can decrypt it; nothing was sent."
    case .uncovered: "Whoever added them did not need the key; nothing was sent."
    }
  }

  /// What can be done about it.
  public var remedy: ImageRemedy {
    switch self {
    case .hashMissing, .hashDiffers, .uncovered: .buildAgain
    case .unsigned, .signatureWrong: .signImage
    case .otherKey, .otherAlgorithm: .chooseAnotherKey
    case .encrypted, .notSignable: .chooseAnotherFile
    }
  }
}

/// A fault of one image of a package, with its name.
public struct PartFault: Error, Equatable, Sendable {
  /// The part's name.
  public let part: String
  /// What is wrong with it.
  public let fault: ProofFault

  /// A part of a package that is not proven.
  public init(part: String, fault: ProofFault) {
    self.part = part
    self.fault = fault
  }
}

extension PartFault: CustomStringConvertible {
  public var description: String { "'\(part)': \(fault)" }
}
