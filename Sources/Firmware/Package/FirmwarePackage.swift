/// The content of a firmware file: one image, or several that are sent in sequence.
public struct FirmwarePackage: Equatable, Sendable {
  /// The structure of the file, which determines the devices that accept it.
  public enum Kind: String, Sendable, CaseIterable {
    /// The bytes of a slot, from a file of any `FirmwareImage.Format`.
    case raw
    /// One MCUboot image, from a file of any `FirmwareImage.Format`.
    case mcuboot
    /// A ZIP archive with a manifest for Nordic Secure DFU.
    case nordicSecureDFU = "nordic-secure-dfu"
    /// A ZIP archive with a manifest for Nordic Legacy DFU.
    case nordicLegacyDFU = "nordic-legacy-dfu"
    /// A ZIP archive with MCUboot images and the manifest of nRF Connect Device Manager.
    case deviceManager = "device-manager"
    /// One GBL file of Silicon Labs.
    case gbl
  }

  /// The file's last path component, or `-` for standard input.
  public let name: String
  /// The kind of the file.
  public let kind: Kind
  /// The images in the order in which they are sent; at least one.
  public let parts: [FirmwareImage]

  /// Creates a package of images in memory, in the order in which they are sent.
  public init(name: String, kind: Kind, parts: [FirmwareImage]) {
    precondition(!parts.isEmpty, "a package without images")
    self.name = name
    self.kind = kind
    self.parts = parts
  }

  /// Returns the image of a package with one image.
  /// - Throws: `.severalImages` if the package has more than one image.
  public func onlyImage() throws(FirmwareFault) -> FirmwareImage {
    guard parts.count == 1 else { throw .severalImages(parts.count) }
    return parts[0]
  }
}
