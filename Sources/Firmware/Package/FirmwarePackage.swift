/// What a firmware file holds: one image, or several that are sent one after the other.
public struct FirmwarePackage: Equatable, Sendable {
  /// How the file is put together, which decides on the devices that can take it.
  public enum Kind: String, Sendable, CaseIterable {
    /// The bytes of a slot, from a file of any `FirmwareImage.Format`.
    case raw
    /// One MCUboot image, from any of these.
    case mcuboot
    /// A ZIP archive with a manifest for Nordic Secure DFU.
    case nordicSecureDFU = "nordic-secure-dfu"
    /// The same for Legacy DFU.
    case nordicLegacyDFU = "nordic-legacy-dfu"
    /// A ZIP archive with MCUboot images and the manifest of nRF Connect Device Manager.
    case deviceManager = "device-manager"
  }

  /// The file's last path component, or `-` for standard input.
  public let name: String
  /// What the file is.
  public let kind: Kind
  /// In the order in which they are sent; at least one.
  public let parts: [FirmwareImage]

  /// A package of images that the program has, in the order in which they are sent.
  public init(name: String, kind: Kind, parts: [FirmwareImage]) {
    precondition(!parts.isEmpty, "a package without images")
    self.name = name
    self.kind = kind
    self.parts = parts
  }

  /// The image of a package that has one.
  /// - Throws: `.severalImages` for one that has more.
  public func onlyImage() throws(FirmwareFault) -> FirmwareImage {
    guard parts.count == 1 else { throw .severalImages(parts.count) }
    return parts[0]
  }
}
