/// What a person can do about a file that cannot be sent: mostly to look at the place.
public enum ImageRemedy: Hashable, Sendable {
  /// One of these regions is to be chosen; the one with most data is first.
  case chooseRegion([AddressRegion])
  /// Lines count from 1.
  case lookAtLine(Int)
  /// Offsets count from the file's first byte.
  case lookAtBytes(Range<Int>)
  /// The first bytes tell what the file is.
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
    case .lookAtBytes(let range): "Look at \(range.count) bytes from offset \(range.lowerBound)."
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
    case .malformed(let fault): fault.line.map(ImageRemedy.lookAtLine) ?? .lookAtBeginning
    case .descriptorDamaged(let offset), .descriptorLayoutUnknown(_, let offset),
      .descriptorsDiffer(_, let offset):
      .lookAtBytes(offset..<offset + ImageDescriptor.size)
    case .mcuboot(let fault): .lookAtBytes(fault.offset..<fault.offset + Self.shownBytes)
    case .headerContradicted: .lookAtBytes(0..<MCUbootHeader.size)
    case .foreignFormat: .lookAtBeginning
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
  private static let shownBytes = 32
}
