/// What a person can do about a file that cannot be sent: mostly to look at the place.
public enum ImageRemedy: Hashable, Sendable {
  /// One of these regions is to be chosen; the one with most data is first.
  case chooseRegion([AddressRegion])
  /// Lines count from 1.
  case lookAtLine(Int)
  /// Offsets count from the file's first octet.
  case lookAtOctets(Range<Int>)
  /// The first octets tell what the file is.
  case lookAtBeginning
  /// What the archive says of the files in it.
  case lookAtArchive
  /// The file of that name in the archive is to be looked at.
  case lookAtFileInArchive(String)
  /// What is known of the images in it.
  case inspectImage
  /// The sidecar file is to say what the image says.
  case mendSidecar
  /// Nothing can be made of this one.
  case chooseAnotherFile
  /// It is to be built again, as a whole.
  case buildAgain
  /// It is unsigned, or was changed after it was signed.
  case signImage
  /// The key is not the one that the image was signed with.
  case chooseAnotherKey
}

extension ImageRemedy: CustomStringConvertible {
  /// A whole sentence for people.
  public var description: String {
    switch self {
    case .chooseRegion(let regions):
      "Choose a region: \(regions.map { "\($0)" }.joined(separator: ", "))."
    case .lookAtLine(let line): "Look at line \(line)."
    case .lookAtOctets(let range): "Look at \(range.count) bytes from offset \(range.lowerBound)."
    case .lookAtBeginning: "Look at the beginning of the file."
    case .lookAtArchive: "Look at what is in the archive."
    case .lookAtFileInArchive(let name): "Look at '\(name)' in the archive."
    case .inspectImage: "Look at what is known of the images."
    case .mendSidecar: "Mend the sidecar file, or remove it."
    case .chooseAnotherFile: "Choose another file."
    case .buildAgain: "Build the image again."
    case .signImage: "Sign the image, with a key that the device knows."
    case .chooseAnotherKey: "Check it with the key that it was signed with."
    }
  }
}

extension FirmwareFault {
  /// What can be done about it.
  public var remedy: ImageRemedy {
    switch self {
    case .addresses(let fault):
      fault.places.isEmpty ? .inspectImage : .chooseRegion(fault.places.map(\.region))
    case .intelHex(let line, _), .sRecord(let line, _): .lookAtLine(line)
    case .descriptorDamaged(let offset), .descriptorLayoutUnknown(_, let offset),
      .descriptorsDiffer(_, let offset):
      .lookAtOctets(offset..<offset + ImageDescriptor.size)
    case .mcuboot(let fault): .lookAtOctets(fault.offset..<fault.offset + Self.shownOctets)
    case .headerContradicted: .lookAtOctets(0..<MCUbootHeader.size)
    case .uf2, .elf, .foreignFormat: .lookAtBeginning
    case .zip: .lookAtArchive
    case .manifest(.missing): .lookAtArchive
    case .manifest: .lookAtFileInArchive("manifest.json")
    case .initPacket(let name, _), .inFile(let name, _): .lookAtFileInArchive(name)
    case .severalImages: .inspectImage
    case .versionContradicted, .hardwareContradicted: .mendSidecar
    case .empty, .tooLarge: .chooseAnotherFile
    }
  }

  /// Around a fault in an MCUboot image.
  private static let shownOctets = 32
}

extension ProofFault {
  /// What it means: a whole sentence.
  public var explanation: String {
    switch self {
    case .hashMissing, .hashDiffers:
      "A boot loader would refuse it, after all of it was sent; nothing was sent."
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
