#if Sites
import OtaflashFleet
import OtaflashNATS

/// The images in the bucket `FW`, for the coordinator. An image is complete when its manifest
/// exists, because the manifest is written last.
package struct ImageUpload: Sendable {
  /// The result of an upload.
  package struct Report: Hashable, Sendable {
    /// The SHA-256 of the image in hex digits.
    package let digest: String
    /// The number of chunks that were sent; the other chunks were already stored.
    package let chunksSent: Int
  }

  private let entries: any SiteEntries

  package init(_ entries: any SiteEntries) { self.entries = entries }

  /// Stores an image. After an interruption, the next call sends only the missing chunks.
  ///
  /// - Parameter repairs: whether all chunks are sent again, because stored chunks are damaged.
  @discardableResult
  package func store(
    _ bytes: [UInt8], repairs: Bool = false
  ) async throws(SiteImageFault) -> Report {
    guard bytes.count <= ImageManifest.sizeMaximum else {
      throw .tooLarge(bytes: bytes.count, limit: ImageManifest.sizeMaximum)
    }
    let manifest = ImageManifest(of: bytes, sha256: ImageManifest.sha256)
    let digest = manifest.text
    do throws(NATSFault) {
      let stored = repairs ? [] : try await entries.keys(ImageKey.all(digest))
      var sent = 0
      for number in manifest.chunks.indices {
        let key = ImageKey.chunk(digest, number)
        guard !stored.contains(key) else { continue }
        try await entries.put(key, Array(bytes[manifest.range(of: number)]))
        sent += 1
      }
      let key = ImageKey.manifest(digest)
      if !stored.contains(key) { try await entries.put(key, manifest.encoded()) }
      return Report(digest: digest, chunksSent: sent)
    } catch {
      throw SiteImageFault(error)
    }
  }

  /// Returns the digests of the complete images.
  package func stored() async throws(SiteImageFault) -> Set<String> {
    do throws(NATSFault) {
      return Set(try await entries.keys("*.manifest").map { String($0.prefix { $0 != "." }) })
    } catch {
      throw SiteImageFault(error)
    }
  }

  /// Removes an image that no job uses.
  package func remove(_ digest: String) async throws(SiteImageFault) {
    try ImageKey.check(digest)
    do throws(NATSFault) {
      // The manifest is removed first, because an image without a manifest is incomplete.
      try await entries.purge(ImageKey.manifest(digest))
      try await entries.purge(ImageKey.all(digest))
    } catch {
      throw SiteImageFault(error)
    }
  }
}
#endif
