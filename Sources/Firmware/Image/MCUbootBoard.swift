/// The devices that an image must be for, by what their bootloader was built with. No device tells
/// these ids over SMP, so whoever updates it must.
public struct MCUbootBoard: Equatable, Sendable {
  /// `nil` = whichever.
  public let vendorID: MCUbootIdentifier?
  /// `nil` takes every class.
  public let classID: MCUbootIdentifier?

  /// The device that images must be for.
  public init(vendorID: MCUbootIdentifier?, classID: MCUbootIdentifier?) {
    self.vendorID = vendorID
    self.classID = classID
  }

  /// Compares an image, as the bootloader would after all of it was sent.
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

/// Why an image is not for a certain kind of device.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum BoardFault: Error, Equatable, Sendable {
  /// Which of the two ids.
  public enum Kind: String, Sendable {
    /// `IMAGE_TLV_UUID_VID`.
    case vendor
    /// `IMAGE_TLV_UUID_CID`.
    case `class`
  }

  /// It names no vendor, or no class; other images than MCUboot's never do.
  case notStated(Kind)
  /// The image is for another vendor, or another class.
  case differs(Kind, stated: MCUbootIdentifier, wanted: MCUbootIdentifier)
}

extension BoardFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notStated(let kind): "it does not say which \(kind.rawValue) it is for"
    case .differs(let kind, let stated, let wanted):
      "it is for \(kind.rawValue) \(stated), not for \(wanted)"
    }
  }
}
