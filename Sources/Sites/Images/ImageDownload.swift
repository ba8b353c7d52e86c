#if Sites
import OtaflashFleet
import OtaflashNATS

/// The transfer of one image to a gateway. First each chunk is verified, and then the complete
/// image.
struct ImageDownload {
  /// The maximum number of reads of a chunk. A read may return damaged bytes from one replica.
  private static let readsMaximum = 3

  let manifest: ImageManifest
  private let entries: any SiteEntries
  private var assembly: ImageAssembly

  /// Reads the manifest of an image.
  init(
    _ digest: String, from entries: any SiteEntries, atMost limit: Int
  ) async throws(SiteImageFault) {
    let entry: SiteEntry?
    do throws(NATSFault) {
      entry = try await entries.current(ImageKey.manifest(digest))
    } catch {
      throw SiteImageFault(error)
    }
    guard let entry else { throw .absent(digest: digest) }
    guard let manifest = ImageManifest.decode(entry.value), manifest.text == digest else {
      throw .damaged(digest: digest)
    }
    guard manifest.size <= limit else { throw .tooLarge(bytes: manifest.size, limit: limit) }
    self.manifest = manifest
    self.entries = entries
    do throws(ImageFault) {
      assembly = try ImageAssembly(manifest, sha256: ImageManifest.sha256)
    } catch {
      throw .damaged(digest: digest)
    }
  }

  /// Adds the correct chunks of an interrupted transfer.
  mutating func add(partial bytes: [UInt8]) {
    for number in manifest.chunks.indices {
      let range = manifest.range(of: number)
      guard range.upperBound <= bytes.count else { return }
      // An incorrect chunk is read again.
      do throws(ImageFault) { try assembly.add(number, Array(bytes[range])) } catch { continue }
    }
  }

  /// Reads the missing chunks, and returns the verified image.
  ///
  /// - Parameter keep: stores a verified chunk at its offset.
  mutating func finish(
    _ keep: (_ offset: Int, [UInt8]) throws(SiteFileFault) -> Void
  ) async throws(SiteImageFault) -> [UInt8] {
    let missing = assembly.missing.flatMap { range in
      range.lowerBound / manifest.chunkSize...(range.upperBound - 1) / manifest.chunkSize
    }
    for number in missing {
      guard !Task.isCancelled else { throw .cancelled }
      let bytes = try await chunk(number)
      do throws(SiteFileFault) {
        try keep(manifest.range(of: number).lowerBound, bytes)
      } catch {
        throw .file(error)
      }
    }
    do throws(ImageFault) {
      guard let image = try assembly.image() else { throw .damagedImage }
      return image
    } catch {
      throw .damaged(digest: manifest.text)
    }
  }

  private mutating func chunk(_ number: Int) async throws(SiteImageFault) -> [UInt8] {
    for _ in 0..<Self.readsMaximum {
      let entry: SiteEntry?
      do throws(NATSFault) {
        entry = try await entries.current(ImageKey.chunk(manifest.text, number))
      } catch {
        throw SiteImageFault(error)
      }
      guard let entry else { throw .absent(digest: manifest.text) }
      do throws(ImageFault) {
        try assembly.add(number, entry.value)
        return entry.value
      } catch {
        continue
      }
    }
    throw .damaged(digest: manifest.text)
  }
}
#endif
