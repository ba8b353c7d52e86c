#if Sites
import Crypto
import FoundationEssentials
import OtaflashFleet
import OtaflashNATS

/// The reason why an image cannot be transferred.
package enum SiteImageFault: Error, Hashable, Sendable {
  /// The text is not the SHA-256 of an image in hex digits.
  case invalidDigest(String)
  /// The coordinator has not stored the image, or has not stored it completely.
  case absent(digest: String)
  /// The stored image does not have the requested digest.
  case damaged(digest: String)
  case tooLarge(bytes: Int, limit: Int)
  case unavailable(NATSFault)
  case file(SiteFileFault)
  case cancelled
}

/// The keys of an image in the bucket `FW`.
enum ImageKey {
  static func manifest(_ digest: String) -> String { "\(digest).manifest" }
  static func chunk(_ digest: String, _ number: Int) -> String { "\(digest).\(number)" }
  static func all(_ digest: String) -> String { "\(digest).*" }

  /// Throws `.invalidDigest` unless the text is a digest, because digests are also names of files.
  static func check(_ digest: String) throws(SiteImageFault) {
    let isHex = digest.utf8.allSatisfy {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
    }
    guard digest.utf8.count == 64, isHex else { throw .invalidDigest(digest) }
  }
}

extension ImageManifest {
  static let sha256: Digest = { Array(SHA256.hash(data: $0)) }

  /// The digest in hex digits, as jobs contain it.
  package var text: String { Self.hex(digest) }

  static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }

  /// The stored form of a manifest. The digests of the chunks are one value, because the manifest
  /// of a large image must be smaller than the maximum message of the broker.
  private struct Entry: Codable {
    let digest: Data
    let size: Int
    let chunkSize: Int
    let chunks: Data
  }

  /// Returns the manifest as the value of an entry.
  package func encoded() -> [UInt8] {
    let entry = Entry(
      digest: Data(digest), size: size, chunkSize: chunkSize, chunks: Data(chunks.joined()))
    do { return Array(try JSONEncoder().encode(entry)) } catch {
      preconditionFailure("a manifest cannot be encoded: \(error)")
    }
  }

  /// Decodes the value of an entry; returns `nil` if the value is not a valid manifest.
  package static func decode(_ value: [UInt8]) -> ImageManifest? {
    let length = SHA256.byteCount
    do {
      let entry = try JSONDecoder().decode(Entry.self, from: Data(value))
      let digests = Array(entry.chunks)
      guard entry.digest.count == length, digests.count.isMultiple(of: length) else { return nil }
      let chunks = stride(from: 0, to: digests.count, by: length).map {
        Array(digests[$0..<$0 + length])
      }
      let manifest = ImageManifest(
        digest: Array(entry.digest), size: entry.size, chunkSize: entry.chunkSize, chunks: chunks)
      return manifest.isSound ? manifest : nil
    } catch {
      return nil
    }
  }
}

extension SiteImageFault: CustomStringConvertible {
  /// The fault, as a clause.
  package var description: String {
    switch self {
    case .invalidDigest(let text): "'\(text)' is not the SHA-256 of an image"
    case .absent(let digest): "image \(digest.prefix(12)) is not stored completely"
    case .damaged(let digest): "the stored image \(digest.prefix(12)) is damaged; upload it again"
    case .tooLarge(let bytes, let limit):
      "the image has \(bytes) bytes; the limit is \(limit) bytes"
    case .unavailable(let fault): "\(fault)"
    case .file(let fault): "\(fault)"
    case .cancelled: "the task was cancelled"
    }
  }
}

extension SiteImageFault {
  init(_ fault: NATSFault) {
    if case .cancelled = fault { self = .cancelled } else { self = .unavailable(fault) }
  }
}
#endif
