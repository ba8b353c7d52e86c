/// The reason why the verification of an image failed. Nothing was sent.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ProofFault: Error, Equatable, Sendable {
  /// The image must contain a hash of itself, but does not contain one.
  case hashMissing
  /// The image or a part of it was changed after the build.
  case hashDiffers(stated: [UInt8], computed: [UInt8])
  /// The image has no signature.
  case unsigned
  /// The image is signed with another key; the values are the hashes of that key and of the
  /// required key.
  case otherKey(stated: [UInt8], wanted: [UInt8])
  /// The image is signed with a key of another algorithm.
  case otherAlgorithm(image: String, key: VerificationKey.Algorithm)
  /// The signature of this key does not match the image.
  case signatureWrong
  /// Hash and signature cover data that only the device can decrypt.
  case encrypted
  /// Bytes follow the image that are neither fill nor a trailer, and that neither the hash nor the
  /// signature covers.
  case uncovered(offset: Int, count: Int)
  /// The image is of a kind that has no signatures.
  case notSignable
}

extension ProofFault {
  /// Whether the image may be genuine but signed with another key.
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
    case .hashMissing: "it does not contain its hash"
    case .hashDiffers(let stated, let computed):
      "its hash is \(Self.short(computed)), but it states \(Self.short(stated)); it was changed"
    case .unsigned: "it is not signed"
    case .otherKey(let stated, let wanted):
      "it is signed by the key with hash \(Self.short(stated)), not by the key with "
        + Self.short(wanted)
    case .otherAlgorithm(let image, let key):
      "it has an \(image), but the key is for \(key.rawValue)"
    case .signatureWrong: "its signature does not match"
    case .encrypted: "it is encrypted, so its hash and signature cannot be checked here"
    case .uncovered(let offset, let count):
      "\(count) bytes from offset \(offset) onward are not covered by any hash or signature"
    case .notSignable: "files of this kind have no signature"
    }
  }

  /// Returns the first digits of a hash, which are sufficient to distinguish two hashes.
  private static func short(_ hash: [UInt8]) -> String {
    hash.prefix(4).map { $0.hexadecimal }.joined().lowercased() + "…"
  }
}

extension ProofFault {
  /// The consequence, as a complete sentence.
  public var explanation: String {
    switch self {
    case .hashMissing, .hashDiffers:
      "A bootloader would reject the image after the complete transfer; nothing was sent."
    case .otherKey, .otherAlgorithm:
      "The image may be genuine, but it is not signed with this key; nothing was sent."
    case .unsigned, .notSignable:
      "A signature by the owner of this key is required; nothing was sent."
    case .signatureWrong:
      "The image was changed after it was signed, or is not genuine; nothing was sent."
    case .encrypted: "Only the device can decrypt the image; nothing was sent."
    case .uncovered: "These bytes could have been added without the key; nothing was sent."
    }
  }

  /// The action that can correct the fault.
  public var remedy: ImageRemedy {
    switch self {
    case .hashMissing, .hashDiffers, .uncovered: .buildAgain
    case .unsigned, .signatureWrong: .signImage
    case .otherKey, .otherAlgorithm: .chooseAnotherKey
    case .encrypted, .notSignable: .chooseAnotherFile
    }
  }
}

/// A fault of one image of a package, with the name of the image.
public struct PartFault: Error, Equatable, Sendable {
  /// The part's name.
  public let part: String
  /// The fault of the part.
  public let fault: ProofFault

  /// Creates the fault of a part that failed the verification.
  public init(part: String, fault: ProofFault) {
    self.part = part
    self.fault = fault
  }
}

extension PartFault: CustomStringConvertible {
  public var description: String { "'\(part)': \(fault)" }
}
