extension FirmwarePackage {
  /// The file in an archive that says what is in it.
  static let manifestName = "manifest.json"

  /// Reads the content of a firmware file, whose kind is found out from it: a ZIP archive is a
  /// package, anything else one image (`FirmwareImage.decode`).
  /// - Parameters:
  ///   - name: the file's last path component, or `-`.
  ///   - bytes: the whole file.
  ///   - sidecar: what the file `<name>.json` says, of every image in the file.
  ///   - overrides: what the user says; it wins.
  ///   - region: the addresses that are wanted of a file that has some.
  ///   - limit: in bytes, for the file and for all images made of it together.
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
      return FirmwarePackage(
        name: name, kind: image.mcuboot == nil ? .raw : .mcuboot, parts: [image])
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
  /// A package of nrfutil or adafruit-nrfutil, whose version of the manifest tells the protocol.
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
  /// Reads the content of an image file, whose format is found out from it
  /// (docs/image-formats.md): by its first bytes, by its name or by its first line of text; any
  /// other file is a raw binary. Of an archive there must be one image in it.
  /// - Parameters:
  ///   - name: the file's last path component, or `-`.
  ///   - bytes: the whole file.
  ///   - sidecar: what the file `<name>.json` says.
  ///   - overrides: what the user says; it wins.
  ///   - region: the addresses that are wanted; `nil` for all but what `KnownRegion.all` lists.
  ///   - limit: in bytes, for the file and for the image made of it.
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
