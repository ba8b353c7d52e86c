/// The action that corrects a file that cannot be sent; usually an inspection of one position in
/// the file.
public enum ImageRemedy: Hashable, Sendable {
  /// Choose one of these regions; the region with the most data is first.
  case chooseRegion([AddressRegion])
  /// Inspect the line with this number, from 1.
  case lookAtLine(Int)
  /// Inspect the bytes at these offsets, from the file's first byte.
  case lookAtBytes(Range<Int>)
  /// Inspect the first bytes, which show the format of the file.
  case lookAtBeginning
  /// Inspect the list of files in the archive.
  case lookAtArchive
  /// Inspect the file of that name in the archive.
  case lookAtFileInArchive(String)
  /// Inspect the metadata of the images.
  case inspectImage
  /// Correct the sidecar file, so that it matches the image.
  case mendSidecar
  /// The file is not usable.
  case chooseAnotherFile
  /// Create the image from the linked program with Espressif's tool.
  case convertWithEsptool
  /// Build the image again, completely.
  case buildAgain
  /// Sign the image: it is unsigned, or was changed after it had been signed.
  case signImage
  /// Use the key with which the image was signed.
  case chooseAnotherKey
}

extension ImageRemedy: CustomStringConvertible {
  /// The action, as a complete sentence.
  public var description: String {
    switch self {
    case .chooseRegion(let regions):
      "Choose a region: \(regions.map { "\($0)" }.joined(separator: ", "))."
    case .lookAtLine(let line): "Check line \(line)."
    case .lookAtBytes(let range): "Look at \(range.count) bytes from offset \(range.lowerBound)."
    case .lookAtBeginning: "Check the start of the file."
    case .lookAtArchive: "Check the content of the archive."
    case .lookAtFileInArchive(let name): "Look at '\(name)' in the archive."
    case .inspectImage: "Inspect the images."
    case .mendSidecar: "Correct the sidecar file, or remove it."
    case .chooseAnotherFile: "Choose another file."
    case .convertWithEsptool: "Create the image with 'esptool elf2image'."
    case .buildAgain: "Build the image again."
    case .signImage: "Sign the image, with a key that the device trusts."
    case .chooseAnotherKey: "Use the key that matches the signature."
    }
  }
}

extension FirmwareFault {
  /// The action that corrects the fault.
  public var remedy: ImageRemedy {
    switch self {
    case .addresses(let fault):
      fault.places.isEmpty ? .inspectImage : .chooseRegion(fault.places.map(\.region))
    case .malformed(let fault): fault.line.map(ImageRemedy.lookAtLine) ?? .lookAtBeginning
    case .descriptorDamaged(let offset), .descriptorLayoutUnknown(_, let offset),
      .descriptorsDiffer(_, let offset):
      .lookAtBytes(offset..<offset + ImageDescriptor.size)
    case .mcuboot(let fault): .lookAtBytes(fault.offset..<fault.offset + Self.shownBytes)
    case .esp(.program): .convertWithEsptool
    case .esp(.completeFlash), .esp(.notAnApplication): .chooseAnotherFile
    case .esp(let fault): .lookAtBytes(fault.offset..<fault.offset + Self.shownBytes)
    case .gbl(let fault): .lookAtBytes(fault.offset..<fault.offset + Self.shownBytes)
    case .telink(.trailerMissing): .buildAgain
    case .telink(let fault): .lookAtBytes(fault.place)
    case .suota(.completeFlash): .chooseAnotherFile
    case .suota(let fault): .lookAtBytes(fault.place)
    case .oad(.notProcessed): .buildAgain
    case .oad(let fault): .lookAtBytes(fault.offset..<fault.offset + Self.shownBytes)
    case .headerContradicted: .lookAtBytes(0..<MCUbootHeader.size)
    case .foreignFormat: .lookAtBeginning
    case .zip: .lookAtArchive
    case .manifest(.missing): .lookAtArchive
    case .manifest: .lookAtFileInArchive("manifest.json")
    case .resources(.listMissing), .resources(.fileMissing), .resources(.fileEmpty): .lookAtArchive
    case .resources: .lookAtFileInArchive(ResourcePackage.listName)
    case .initPacket(let name, _), .inFile(let name, _): .lookAtFileInArchive(name)
    case .severalImages: .inspectImage
    case .versionContradicted, .hardwareContradicted: .mendSidecar
    case .empty, .tooLarge: .chooseAnotherFile
    }
  }

  /// The number of bytes to show at a fault in the structure of an image or a GBL file.
  private static let shownBytes = 32
}
