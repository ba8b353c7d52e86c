extension ResourcePackage {
  /// Decodes a package.
  ///
  /// - Parameters:
  ///   - name: the file's last path component, or `-`.
  ///   - bytes: the complete archive.
  ///   - limit: the maximum size in bytes of the archive and of all its files together.
  public static func decode(
    name: String, bytes: [UInt8], limit: Int = FirmwareImage.defaultLimit
  ) throws(FirmwareFault) -> ResourcePackage {
    guard !bytes.isEmpty else { throw .empty }
    guard bytes.count <= limit else { throw .tooLarge(limit: limit) }
    let archive: ZipArchive
    do throws(ZipFault) { archive = try ZipArchive(decoding: bytes, limit: limit) } catch {
      throw .zip(error)
    }
    do throws(ResourceFault) { return try ResourcePackage(name: name, archive) } catch {
      throw .resources(error)
    }
  }

  /// Returns whether an archive contains resources and no firmware, according to its entries.
  public static func recognizes(_ bytes: [UInt8]) -> Bool {
    guard ZipArchive.begins(bytes) else { return false }
    do throws(ZipFault) {
      let archive = try ZipArchive(decoding: bytes, limit: FirmwareImage.defaultLimit)
      return archive[listName] != nil && archive[FirmwarePackage.manifestName] == nil
    } catch {
      // A malformed archive is reported by the decoder of packages.
      return false
    }
  }
}
