/// Statements about an image from other sources, before the image is decoded.
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
