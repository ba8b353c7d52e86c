/// Statements about an image from sources other than the image, before it is decoded.
struct IdentityClaims {
  let sidecar: ImageIdentity?
  let overrides: ImageIdentity

  func settled(
    for image: [UInt8], header: FirmwareVersion? = nil
  ) throws(FirmwareFault) -> ImageIdentity {
    try ImageIdentity.settled(
      image: image, header: header, sidecar: sidecar, overrides: overrides)
  }
}
