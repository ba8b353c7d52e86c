/// A vendor, or a class of a vendor's devices, as MCUboot images name them: a UUID (MCUboot,
/// `IMAGE_TLV_UUID_VID` and `IMAGE_TLV_UUID_CID`).
public struct MCUbootIdentifier: Hashable, Sendable {
  /// 16 octets, in the order in which they are written.
  public let octets: [UInt8]

  /// `nil` unless there are 16.
  public init?(octets: [UInt8]) {
    guard octets.count == Self.size else { return nil }
    self.init(octets)
  }

  /// Octets of a UUID.
  private static let size = 16

  init(_ octets: [UInt8]) {
    precondition(octets.count == Self.size, "a UUID has \(Self.size) octets")
    self.octets = octets
  }

  /// Reads 32 hexadecimal digits, with hyphens where a UUID has them or without any.
  public init?(uuid text: String) {
    let groups = text.split(separator: "-", omittingEmptySubsequences: false)
    guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12] || groups.count == 1 else { return nil }
    do throws(HexadecimalFault) {
      self.init(octets: try HexadecimalText.octets(of: groups.joined().utf8, fromColumn: 1))
    } catch {
      return nil
    }
  }
}

extension MCUbootIdentifier: CustomStringConvertible {
  /// As UUIDs are written: `6ba7b810-9dad-11d1-80b4-00c04fd430c8`.
  public var description: String {
    let digits = octets.map { $0.hexadecimal.lowercased() }
    return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { digits[$0].joined() }
      .joined(separator: "-")
  }
}

extension MCUbootImage {
  /// Whose devices the image is for; `nil` when it does not say.
  public var vendorID: MCUbootIdentifier? { identifier(.vendorID, .documentedVendorID) }
  /// Which of them; `nil` when it does not say.
  public var classID: MCUbootIdentifier? { identifier(.classID, .documentedClassID) }

  private func identifier(_ types: MCUbootTLVType...) -> MCUbootIdentifier? {
    protectedEntries.first { types.contains($0.type) }
      .flatMap { MCUbootIdentifier(octets: $0.value) }
  }
}

/// The devices that an image must be for, by what their boot loader was built with. No device tells
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

  /// Compares an image, as the boot loader would after all of it was sent.
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
