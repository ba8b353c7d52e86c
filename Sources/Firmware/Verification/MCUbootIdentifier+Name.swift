import Crypto

extension MCUbootIdentifier {
  /// The namespace of domain names, which identify vendors (RFC 9562, 6.6).
  public static let domainNames = MCUbootIdentifier([
    0x6B, 0xA7, 0xB8, 0x10, 0x9D, 0xAD, 0x11, 0xD1, 0x80, 0xB4, 0x00, 0xC0, 0x4F, 0xD4, 0x30, 0xC8,
  ])

  /// Creates the UUID of a name (RFC 9562, 5.5: version 5), as imgtool derives it from `--vid` and
  /// `--cid`.
  ///
  /// - Parameters:
  ///   - name: a domain name, or a device's class.
  ///   - namespace: for a vendor, the namespace of domain names; for a class, the UUID of the
  ///     vendor.
  public init(name: String, in namespace: MCUbootIdentifier) {
    var bytes = Array(Insecure.SHA1.hash(data: namespace.bytes + Array(name.utf8)).prefix(16))
    bytes[6] = bytes[6] & 0x0F | 0x50
    bytes[8] = bytes[8] & 0x3F | 0x80
    self.init(bytes)
  }
}
