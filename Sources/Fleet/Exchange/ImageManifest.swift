/// An image as a sequence of chunks, each of which is verified separately, so that an interrupted
/// transfer to a site can be resumed, and only damaged chunks are requested again.
package struct ImageManifest: Hashable, Sendable, Codable {
  /// A function that returns the SHA-256 of bytes.
  package typealias Digest = @Sendable (ArraySlice<UInt8>) -> [UInt8]

  /// The default length of a chunk in bytes. It is below the limit of a message broker, by default
  /// 1 MiB for each message.
  package static let chunkSize = 128 * 1024
  /// The maximum size of an image. It ensures that a manifest from another host cannot exhaust the
  /// memory.
  package static let sizeMaximum = 1 << 30

  /// SHA-256 of the image, by which jobs refer to the image.
  package let digest: [UInt8]
  /// The size in bytes.
  package let size: Int
  package let chunkSize: Int
  /// SHA-256 of each chunk, in order.
  package let chunks: [[UInt8]]

  /// Describes an image.
  package init(of bytes: [UInt8], chunkSize: Int = Self.chunkSize, sha256: Digest) {
    precondition(chunkSize > 0, "a chunk has at least one byte")
    digest = sha256(bytes[...])
    size = bytes.count
    self.chunkSize = chunkSize
    chunks = stride(from: 0, to: bytes.count, by: chunkSize).map {
      sha256(bytes[$0..<min($0 + chunkSize, bytes.count)])
    }
  }

  /// Creates a received manifest; the values are not checked.
  package init(digest: [UInt8], size: Int, chunkSize: Int, chunks: [[UInt8]]) {
    self.digest = digest
    self.size = size
    self.chunkSize = chunkSize
    self.chunks = chunks
  }

  /// Whether the sizes are in range, and agree with the number of chunks. A received manifest is
  /// checked before its first use.
  package var isSound: Bool {
    (0...Self.sizeMaximum).contains(size) && (1...Self.sizeMaximum).contains(chunkSize)
      && chunks.count == (size + chunkSize - 1) / chunkSize
  }

  /// Returns the range of a chunk's bytes in the image.
  package func range(of chunk: Int) -> Range<Int> {
    chunk * chunkSize..<min((chunk + 1) * chunkSize, size)
  }
}

/// The reason why a part of an image was rejected.
package enum ImageFault: Error, Hashable, Sendable {
  case unsoundManifest
  case noSuchChunk(Int)
  /// The length or the content of the chunk differs from the manifest.
  case damagedChunk(Int)
  /// Each chunk is correct, but the image is not: the manifest contradicts itself.
  case damagedImage
}

/// An image whose chunks arrive in any order, possibly more than once.
package struct ImageAssembly: Sendable {
  package let manifest: ImageManifest
  private let sha256: ImageManifest.Digest
  private var bytes: [UInt8]
  private var isPresent: [Bool]

  /// - Throws: `.unsoundManifest`.
  package init(
    _ manifest: ImageManifest, sha256: @escaping ImageManifest.Digest
  ) throws(ImageFault) {
    guard manifest.isSound else { throw .unsoundManifest }
    self.manifest = manifest
    self.sha256 = sha256
    bytes = [UInt8](repeating: 0, count: manifest.size)
    isPresent = [Bool](repeating: false, count: manifest.chunks.count)
  }

  /// The missing ranges of bytes; the ranges of adjacent chunks are merged.
  package var missing: [Range<Int>] {
    var ranges: [Range<Int>] = []
    for chunk in isPresent.indices where !isPresent[chunk] {
      let range = manifest.range(of: chunk)
      if let last = ranges.last, last.upperBound == range.lowerBound {
        ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
      } else {
        ranges.append(range)
      }
    }
    return ranges
  }

  /// Adds a chunk after its verification.
  package mutating func add(_ chunk: Int, _ content: [UInt8]) throws(ImageFault) {
    guard isPresent.indices.contains(chunk) else { throw .noSuchChunk(chunk) }
    let range = manifest.range(of: chunk)
    guard content.count == range.count, sha256(content[...]) == manifest.chunks[chunk] else {
      throw .damagedChunk(chunk)
    }
    bytes.replaceSubrange(range, with: content)
    isPresent[chunk] = true
  }

  /// Returns the complete image after its verification; `nil` = chunks are missing.
  package func image() throws(ImageFault) -> [UInt8]? {
    guard !isPresent.contains(false) else { return nil }
    guard sha256(bytes[...]) == manifest.digest else { throw .damagedImage }
    return bytes
  }
}
