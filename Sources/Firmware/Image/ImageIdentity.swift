/// The version and hardware that a sidecar file or the command line states for an image.
public struct ImageIdentity: Equatable, Sendable {
  /// The version; `nil` if not stated.
  public var version: FirmwareVersion?
  /// The hardware id: `.any` for an image that runs on every board; `nil` if not stated.
  public var hardware: HardwareID?

  /// Creates the statement about an image.
  public init(version: FirmwareVersion? = nil, hardware: HardwareID? = nil) {
    self.version = version
    self.hardware = hardware
  }

  /// Returns the version and hardware of an image. For each field, the first source that states it
  /// is used: the override, the sidecar file, and the image itself (its MCUboot header or its
  /// embedded descriptor). If both fields are overridden, the image is not searched for a
  /// descriptor, so an image in which some bytes look like a damaged descriptor is accepted.
  /// - Parameter header: the version in the image's MCUboot header.
  /// - Throws: the faults of the descriptor, or a contradiction that no override resolves.
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
    // A sidecar file may restrict an image for any board to one board.
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
