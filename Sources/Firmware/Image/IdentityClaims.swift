/// What others than the image say of it, before it is known what the image says.
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
