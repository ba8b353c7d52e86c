#if Sites
import OtaflashDevices
import OtaflashFirmware
import OtaflashFleetEngine
import OtaflashFleetFiles
import OtaflashSites

/// Provides the images of jobs, from the folder of this host or from the message broker.
actor GatewayImages {
  /// The maximum number of decoded images in memory.
  private static let decodedMaximum = 4

  private let cache: ImageCache
  private let records: StateStore
  /// The key that must have signed each image; `nil` = no signature is required.
  private let key: VerificationKey?
  /// The decoded images, sorted by their last use; the most recently used image is last.
  private var decoded: [(digest: String, package: FirmwarePackage)] = []

  init(_ cache: ImageCache, records: StateStore, signedBy key: VerificationKey?) {
    self.cache = cache
    self.records = records
    self.key = key
  }

  func package(_ digest: String) async throws(ImageUnavailable) -> FirmwarePackage {
    if let index = decoded.firstIndex(where: { $0.digest == digest }) {
      let found = decoded.remove(at: index)
      decoded.append(found)
      return found.package
    }
    let bytes: [UInt8]
    do throws(SiteImageFault) { bytes = try await cache.acquire(digest) } catch {
      throw ImageUnavailable(words: "image \(digest) is not available: \(error)")
    }
    await cache.release(digest)
    let package = try decode(bytes, digest)
    decoded.removeAll { $0.digest == digest }
    decoded.append((digest, package))
    if decoded.count > Self.decodedMaximum { decoded.removeFirst() }
    // The image may become the base of a later patch.
    records.keep(package)
    return package
  }

  private func decode(
    _ bytes: [UInt8], _ digest: String
  ) throws(ImageUnavailable) -> FirmwarePackage {
    do {
      let package = try ImageBlob(bytes: bytes).package()
      try ImageSource.prove(package, by: key)
      return package
    } catch CommandFault.unproved(_, let part) {
      throw ImageUnavailable(words: "image \(digest) is refused: \(part)")
    } catch {
      throw ImageUnavailable(words: "image \(digest) cannot be read: \(error)")
    }
  }
}
#endif
