extension FirmwarePackage {
  /// The name of the manifest in an archive.
  static let manifestName = "manifest.json"

  /// Decodes a firmware file and detects its kind: a ZIP archive is a package, any other file
  /// contains one image (`FirmwareImage.decode`).
  /// - Parameters:
  ///   - name: the file's last path component, or `-`.
  ///   - bytes: the complete file.
  ///   - sidecar: the content of the file `<name>.json`, for every image in the file.
  ///   - overrides: the user's values, which have priority.
  ///   - region: the addresses to use of a file with addresses; `nil` for all except those in
  ///     `KnownRegion.all`.
  ///   - limit: the maximum size in bytes of the file and of all its images together.
  public static func decode(
    name: String, bytes: [UInt8], sidecar: ImageIdentity? = nil,
    overrides: ImageIdentity = ImageIdentity(), region: AddressRegion? = nil,
    limit: Int = FirmwareImage.defaultLimit
  ) throws(FirmwareFault) -> FirmwarePackage {
    guard !bytes.isEmpty else { throw .empty }
    guard bytes.count <= limit else { throw .tooLarge(limit: limit) }
    let claims = IdentityClaims(sidecar: sidecar, overrides: overrides)
    guard ZipArchive.begins(bytes) else {
      let image = try FirmwareImage(
        decoding: bytes, name: name, claims: claims, place: MCUbootPlace(),
        in: AddressedMemory.Window(spanLimit: limit, region: region))
      return FirmwarePackage(name: name, kind: image.kindOfFile, parts: [image])
    }
    guard region == nil else { throw .addresses(.noAddresses) }
    let archive = try Self.archive(bytes, limit: limit)
    let manifest = try Self.manifest(of: archive)
    if let nordic = manifest["manifest"] {
      return try nordicPackage(name: name, archive: archive, manifest: nordic, claims: claims)
    }
    if manifest["files"] != nil {
      return try deviceManagerPackage(
        name: name, archive: archive, manifest: manifest, claims: claims, limit: limit)
    }
    throw .manifest(.unknownKind)
  }

  private static func archive(_ bytes: [UInt8], limit: Int) throws(FirmwareFault) -> ZipArchive {
    do throws(ZipFault) {
      return try ZipArchive(decoding: bytes, limit: limit)
    } catch {
      throw .zip(error)
    }
  }

  private static func manifest(of archive: ZipArchive) throws(FirmwareFault) -> ManifestValue {
    do throws(ManifestFault) {
      guard let text = archive[manifestName] else { throw .missing }
      return try ManifestReader.read(text)
    } catch {
      throw .manifest(error)
    }
  }
}

extension FirmwarePackage {
  /// Decodes a package of nrfutil or adafruit-nrfutil; the version of the manifest determines the
  /// protocol.
  private static func nordicPackage(
    name: String, archive: ZipArchive, manifest: ManifestValue, claims: IdentityClaims
  ) throws(FirmwareFault) -> FirmwarePackage {
    let isLegacy = manifest["dfu_version"] != nil
    let content: NordicManifest
    do throws(ManifestFault) { content = try NordicManifest(manifest) } catch {
      throw .manifest(error)
    }
    var parts: [FirmwareImage] = []
    for part in content.parts {
      let firmware = try file(part.binFile, of: archive)
      let packet = try initPacket(of: part, in: archive, firmware: firmware, isLegacy: isLegacy)
      let identity = try claims.settled(for: firmware)
      parts.append(
        FirmwareImage(
          name: part.binFile, format: .binary, bytes: firmware, version: identity.version,
          hardware: identity.hardware, content: .nordic(packet)))
    }
    return FirmwarePackage(
      name: name, kind: isLegacy ? .nordicLegacyDFU : .nordicSecureDFU, parts: parts)
  }

  private static func initPacket(
    of part: NordicManifest.Part, in archive: ZipArchive, firmware: [UInt8], isLegacy: Bool
  ) throws(FirmwareFault) -> NordicInitPacket {
    let bytes = try file(part.datFile, of: archive)
    let packet: NordicInitPacket
    do throws(InitPacketFault) {
      packet = try NordicInitPacket(
        decoding: bytes, for: part, firmwareSize: firmware.count, isLegacy: isLegacy)
    } catch {
      throw .initPacket(file: part.datFile, error)
    }
    if let difference = packet.difference(from: firmware.count, manifest: part.sizes) {
      throw .manifest(.contradicted(file: part.datFile, difference))
    }
    return packet
  }

  static func file(_ name: String, of archive: ZipArchive) throws(FirmwareFault) -> [UInt8] {
    guard let bytes = archive[name] else { throw .manifest(.fileMissing(name)) }
    guard !bytes.isEmpty else { throw .inFile(name, .empty) }
    return bytes
  }
}

extension FirmwareImage {
  /// The kind of a file that contains only this image.
  fileprivate var kindOfFile: FirmwarePackage.Kind {
    switch content {
    case .plain, .nordic, .esp, .telink, .suota, .oad, .microbit: .raw
    case .mcuboot: .mcuboot
    case .gbl: .gbl
    }
  }

  /// Decodes an image file and detects its format (docs/image-formats.md) by its first bytes, by
  /// its name or by its first line of text; any other file is a raw binary. An archive must contain
  /// one image.
  /// - Parameters:
  ///   - name: the file's last path component, or `-`.
  ///   - bytes: the complete file.
  ///   - sidecar: the content of the file `<name>.json`.
  ///   - overrides: the user's values, which have priority.
  ///   - region: the addresses to use; `nil` for all except those in `KnownRegion.all`.
  ///   - limit: the maximum size in bytes of the file and of its image.
  public static func decode(
    name: String, bytes: [UInt8], sidecar: ImageIdentity? = nil,
    overrides: ImageIdentity = ImageIdentity(), region: AddressRegion? = nil,
    limit: Int = defaultLimit
  ) throws(FirmwareFault) -> FirmwareImage {
    try FirmwarePackage.decode(
      name: name, bytes: bytes, sidecar: sidecar, overrides: overrides, region: region, limit: limit
    ).onlyImage()
  }
}
