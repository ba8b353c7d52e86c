/// What someone other than the image says of it: a sidecar file, or the command line.
public struct ImageIdentity: Equatable, Sendable {
  /// `nil` where nothing is said.
  public var version: FirmwareVersion?
  /// `.any` for an image that runs on every board.
  public var hardware: HardwareID?

  /// What somebody says of an image.
  public init(version: FirmwareVersion? = nil, hardware: HardwareID? = nil) {
    self.version = version
    self.hardware = hardware
  }

  /// What holds for an image, field by field: the override before the sidecar before the image
  /// itself, which speaks by its MCUboot header and its embedded descriptor. With both fields
  /// overridden the image is not searched for a descriptor, which is the way out for an image
  /// whose own bytes look like a damaged one.
  /// - Parameter header: the version in the image's MCUboot header.
  /// - Throws: the faults of the descriptor, or a contradiction that no override decides.
  static func settled(
    image: [UInt8], header: FirmwareVersion?, sidecar: ImageIdentity?, overrides: ImageIdentity
  ) throws(FirmwareFault) -> ImageIdentity {
    if overrides.version != nil && overrides.hardware != nil { return overrides }
    let descriptor = try ImageDescriptor.find(in: image)
    if overrides.version == nil, let header, let own = descriptor?.version, header != own {
      throw .headerContradicted(header: header, descriptor: own)
    }
    let own = ImageIdentity(
      version: header ?? descriptor?.version, hardware: descriptor.map { $0.hardware ?? .any })
    if overrides.version == nil, let said = sidecar?.version, let own = own.version, said != own {
      throw .versionContradicted(sidecar: said, descriptor: own)
    }
    // A sidecar may say for which board it is, of an image that would run on any.
    if overrides.hardware == nil, let said = sidecar?.hardware, let own = own.hardware,
      own != .any, said != own
    {
      throw .hardwareContradicted(sidecar: said, descriptor: own)
    }
    return ImageIdentity(
      version: overrides.version ?? sidecar?.version ?? own.version,
      hardware: overrides.hardware ?? sidecar?.hardware ?? own.hardware)
  }
}
