/// The UUID of a vendor, or of a class of a vendor's devices, in MCUboot images (MCUboot,
/// `IMAGE_TLV_UUID_VID` and `IMAGE_TLV_UUID_CID`).
public struct MCUbootIdentifier: Hashable, Sendable {
  /// The 16 bytes of the UUID, in the order of its text form.
  public let bytes: [UInt8]

  /// Returns `nil` unless `bytes` has 16 bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == Self.size else { return nil }
    self.init(bytes)
  }

  /// The size of a UUID in bytes.
  private static let size = 16

  init(_ bytes: [UInt8]) {
    precondition(bytes.count == Self.size, "a UUID has \(Self.size) bytes")
    self.bytes = bytes
  }

  /// Parses 32 hexadecimal digits, with the hyphens of a UUID or without hyphens. Returns `nil` for
  /// other text.
  public init?(uuid text: String) {
    let groups = text.split(separator: "-", omittingEmptySubsequences: false)
    guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12] || groups.count == 1 else { return nil }
    do throws(HexadecimalFault) {
      self.init(bytes: try HexadecimalText.bytes(of: groups.joined().utf8, fromColumn: 1))
    } catch {
      return nil
    }
  }
}

extension MCUbootIdentifier: CustomStringConvertible {
  /// The text form of the UUID: `6ba7b810-9dad-11d1-80b4-00c04fd430c8`.
  public var description: String {
    let digits = bytes.map { $0.hexadecimal.lowercased() }
    return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { digits[$0].joined() }
      .joined(separator: "-")
  }
}

extension MCUbootImage {
  /// The vendor of the devices for which the image is built; `nil` if not stated.
  public var vendorID: MCUbootIdentifier? { identifier(.vendorID, .documentedVendorID) }
  /// The class of the devices for which the image is built; `nil` if not stated.
  public var classID: MCUbootIdentifier? { identifier(.classID, .documentedClassID) }

  private func identifier(_ types: MCUbootTLVType...) -> MCUbootIdentifier? {
    protectedEntries.first { types.contains($0.type) }
      .flatMap { MCUbootIdentifier(bytes: $0.value) }
  }
}
