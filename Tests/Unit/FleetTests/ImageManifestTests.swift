import Crypto
import Foundation
import OtaflashFleet
import Testing

@Suite struct ImageManifestTests {
  private static let sha256: ImageManifest.Digest = { Array(SHA256.hash(data: $0)) }
  private static let image = (0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }

  private static func chunk(_ number: Int, of manifest: ImageManifest) -> [UInt8] {
    Array(image[manifest.range(of: number)])
  }

  /// An image of more than 1 MiB is assembled from chunks in any order. A chunk may arrive twice.
  @Test func anImageArrivesInAnyOrder() throws {
    let manifest = ImageManifest(of: Self.image, sha256: Self.sha256)
    #expect(manifest.chunks.count == 12)
    var assembly = try ImageAssembly(manifest, sha256: Self.sha256)
    for number in [11, 3, 3, 0, 1, 2, 4, 10, 9, 8, 7, 6] {
      try assembly.add(number, Self.chunk(number, of: manifest))
    }
    #expect(try assembly.image() == nil)
    #expect(assembly.missing == [manifest.range(of: 5)])
    try assembly.add(5, Self.chunk(5, of: manifest))
    #expect(assembly.missing.isEmpty)
    #expect(try assembly.image() == Self.image)
  }

  @Test func onlyADamagedChunkIsRejected() throws {
    let manifest = ImageManifest(of: Self.image, sha256: Self.sha256)
    var assembly = try ImageAssembly(manifest, sha256: Self.sha256)
    var chunk = Self.chunk(4, of: manifest)
    chunk[77] ^= 1
    #expect(throws: ImageFault.damagedChunk(4)) { try assembly.add(4, chunk) }
    #expect(throws: ImageFault.damagedChunk(4)) { try assembly.add(4, Array(chunk.dropLast())) }
    #expect(throws: ImageFault.noSuchChunk(12)) { try assembly.add(12, chunk) }
    #expect(assembly.missing == [0..<Self.image.count])
  }

  /// Each chunk matches the manifest, but the digest of the manifest is that of another image.
  @Test func chunksOfAnotherImageAreRejectedAtTheEnd() throws {
    let manifest = ImageManifest(of: Self.image, sha256: Self.sha256)
    let forged = try JSONManifest(manifest).with(digest: [UInt8](repeating: 0, count: 32))
    var assembly = try ImageAssembly(forged, sha256: Self.sha256)
    for number in manifest.chunks.indices {
      try assembly.add(number, Self.chunk(number, of: manifest))
    }
    #expect(throws: ImageFault.damagedImage) { try assembly.image() }
  }

  @Test func aManifestWithImpossibleSizesIsRejected() throws {
    let manifest = JSONManifest(ImageManifest(of: Self.image, sha256: Self.sha256))
    for size in [-1, 1 << 40, 10, Int.max] {
      let forged = try manifest.with(size: size)
      #expect(throws: ImageFault.unsoundManifest) {
        try ImageAssembly(forged, sha256: Self.sha256)
      }
    }
  }

  @Test func anEmptyImageHasNoChunks() throws {
    let manifest = ImageManifest(of: [], sha256: Self.sha256)
    #expect(try ImageAssembly(manifest, sha256: Self.sha256).image() == [])
  }
}

/// A manifest with forged values, as a message may contain it.
private struct JSONManifest {
  private struct Fields: Codable {
    var digest: [UInt8]
    var size: Int
    var chunkSize: Int
    var chunks: [[UInt8]]
  }

  private let manifest: ImageManifest

  init(_ manifest: ImageManifest) { self.manifest = manifest }

  func with(digest: [UInt8]? = nil, size: Int? = nil) throws -> ImageManifest {
    let fields = Fields(
      digest: digest ?? manifest.digest, size: size ?? manifest.size,
      chunkSize: manifest.chunkSize, chunks: manifest.chunks)
    return try JSONDecoder().decode(ImageManifest.self, from: try JSONEncoder().encode(fields))
  }
}
