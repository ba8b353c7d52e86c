extension FirmwarePackage {
  /// Decodes a package of MCUboot images. The manifest's statements on each file must be correct.
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
      // Two files for one place are ambiguous. The exception is an installer with an application,
      // because the installer frees its place for the application.
      let isTaken = parts.contains {
        $0.place == image.place && ($0.installer == nil) == (image.installer == nil)
      }
      guard !isTaken else {
        throw .manifest(
          .combination("'\(file.name)' is for the same image and slot as another file"))
      }
      parts.append(image)
    }
    // Installers are sent first, because they overwrite the application.
    let sorted = parts.filter { $0.installer != nil } + parts.filter { $0.installer == nil }
    return FirmwarePackage(name: name, kind: .deviceManager, parts: sorted)
  }
}

extension DeviceManagerManifest.File {
  fileprivate func difference(from image: FirmwareImage, fileSize: Int) -> String? {
    guard let mcuboot = image.mcuboot else { return "it is not an MCUboot image" }
    if let size, size != fileSize { return "\(size) bytes and \(fileSize) bytes" }
    if let version, version != mcuboot.version {
      return "version \(version) and version \(mcuboot.version)"
    }
    return nil
  }
}
