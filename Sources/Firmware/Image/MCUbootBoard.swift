/// The devices for which an image must be built, identified by the ids in the build of their
/// bootloader. Devices do not report these ids over SMP, so the caller must specify them.
public struct MCUbootBoard: Equatable, Sendable {
  /// The vendor; `nil` = any vendor.
  public let vendorID: MCUbootIdentifier?
  /// The class; `nil` = any class.
  public let classID: MCUbootIdentifier?

  /// Creates the requirement of an image.
  public init(vendorID: MCUbootIdentifier?, classID: MCUbootIdentifier?) {
    self.vendorID = vendorID
    self.classID = classID
  }

  /// Compares the ids of the image, as the bootloader would after the complete transfer.
  public func check(_ image: FirmwareImage) throws(BoardFault) {
    if let vendorID { try Self.compare(image.mcuboot?.vendorID, vendorID, .vendor) }
    if let classID { try Self.compare(image.mcuboot?.classID, classID, .class) }
  }

  private static func compare(
    _ stated: MCUbootIdentifier?, _ wanted: MCUbootIdentifier, _ kind: BoardFault.Kind
  ) throws(BoardFault) {
    guard let stated else { throw .notStated(kind) }
    guard stated == wanted else { throw .differs(kind, stated: stated, wanted: wanted) }
  }
}

/// The reason why an image is not for the required devices.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum BoardFault: Error, Equatable, Sendable {
  /// The kind of id.
  public enum Kind: String, Sendable {
    /// `IMAGE_TLV_UUID_VID`.
    case vendor
    /// `IMAGE_TLV_UUID_CID`.
    case `class`
  }

  /// The image states no vendor or no class; only MCUboot images can state them.
  case notStated(Kind)
  /// The image is for another vendor, or another class.
  case differs(Kind, stated: MCUbootIdentifier, wanted: MCUbootIdentifier)
}

extension BoardFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notStated(let kind): "it does not state which \(kind.rawValue) it is for"
    case .differs(let kind, let stated, let wanted):
      "it is for \(kind.rawValue) \(stated), not for \(wanted)"
    }
  }
}
