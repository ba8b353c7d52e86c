/// A key of the project file. Each key except `image` is the long option of the same name.
package enum ProjectKey: String, CaseIterable, Sendable {
  case device, image, hardware, key
  case imageVersion = "image-version"
  case keyFile = "key-file"
  case base, delta, adapter, timeout, `protocol`
  case vendorID = "vendor-id"
  case classID = "class-id"
  case interval, phy, supervision, mtu, channel, characteristic

  /// Whether the value is a path, which is relative to the folder of the file.
  package var isPath: Bool {
    switch self {
    case .image, .key, .keyFile, .base: true
    case .device, .hardware, .imageVersion, .delta, .adapter, .timeout, .protocol, .vendorID,
      .classID, .interval, .phy, .supervision, .mtu, .channel, .characteristic:
      false
    }
  }

  /// Whether the value is a request for a link on the air.
  var isLinkRequest: Bool {
    switch self {
    case .interval, .phy, .supervision: true
    case .device, .image, .hardware, .key, .imageVersion, .keyFile, .base, .delta, .adapter,
      .timeout, .protocol, .vendorID, .classID, .mtu, .channel, .characteristic:
      false
    }
  }
}
