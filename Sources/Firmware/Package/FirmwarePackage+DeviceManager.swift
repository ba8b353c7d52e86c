extension FirmwarePackage {
  /// A package of MCUboot images. What the manifest says of a file must be true of it.
  static func deviceManagerPackage(
    name: String, archive: ZipArchive, manifest: ManifestValue, claims: IdentityClaims, limit: Int
  ) throws(FirmwareFault) -> FirmwarePackage {
    let content: DeviceManagerManifest
    do throws(ManifestFault) { content = try DeviceManagerManifest(manifest) } catch {
      throw .manifest(error)
    }
    var parts: [FirmwareImage] = []
    for file in content.files {
      let bytes = try Self.file(file.name, of: archive)
      let image: FirmwareImage
      do throws(FirmwareFault) {
        image = try FirmwareImage(
          decoding: bytes, name: file.name, claims: claims, place: file.place,
          in: AddressedMemory.Window(spanLimit: limit))
      } catch {
        throw .inFile(file.name, error)
      }
      if let difference = file.difference(from: image, fileSize: bytes.count) {
        throw .manifest(.contradicted(file: file.name, difference))
      }
      parts.append(image)
    }
    return FirmwarePackage(name: name, kind: .deviceManager, parts: parts)
  }
}

extension DeviceManagerManifest.File {
  fileprivate func difference(from image: FirmwareImage, fileSize: Int) -> String? {
    guard let mcuboot = image.mcuboot else { return "it is no MCUboot image" }
    if let size, size != fileSize { return "\(size) bytes and \(fileSize) bytes" }
    if let version, version != mcuboot.version {
      return "version \(version) and version \(mcuboot.version)"
    }
    return nil
  }
}
