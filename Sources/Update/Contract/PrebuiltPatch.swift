import OtaflashDelta
import OtaflashFirmware

/// A patch that was made elsewhere, against what devices run: by detools, `otaflash image patch`,
/// or for ESP-IDF's `esp_delta_ota`, whose header is left out.
///
/// A patch names neither the image that it makes nor the one that it was made against. So it is
/// only a shorter way to send an image that is given, too: what a device makes of it is compared
/// with that image, by the checksum of its part and by the image's own.
public struct PrebuiltPatch: Equatable, Sendable {
  /// Without any header.
  let bytes: [UInt8]
  let codec: PatchCodec
  /// Bytes of the image that it makes.
  public let imageSize: Int
  /// What it was applied to here, and made the image of; `nil` = nothing yet.
  public private(set) var base: ContentIdentity?

  /// - Parameter file: all bytes of a file.
  /// - Throws: why they are no patch that a device could be sent.
  public init(_ file: [UInt8]) throws(PrebuiltPatchFault) {
    guard !file.isEmpty else { throw .empty }
    bytes = Array(PatchFile.patch(in: file))
    let description: PatchDescription
    do throws(PatchFault) { description = try PatchDescription(reading: bytes[...]) } catch {
      throw .damaged("\(error)")
    }
    guard description.kind == .sequential else { throw .kind("an \(description.kind.name) patch") }
    guard !description.hasDataFormat else { throw .kind("one with a data format") }
    switch description.compression {
    case .known(let codec): self.codec = codec
    case .foreign(let name): throw .kind("compressed with \(name)")
    }
    imageSize = description.imageSize
  }

  /// Makes sure that it can make the image.
  ///
  /// - Parameters:
  ///   - image: what is to run.
  ///   - base: what it is made against, where that is at hand: then the image is made of it.
  /// - Throws: `.makesAnotherSize`, `.makesAnother`.
  public mutating func check(makes image: [UInt8], of base: [UInt8]?) throws(PrebuiltPatchFault) {
    guard imageSize == image.count else {
      throw .makesAnotherSize(imageSize, image: image.count)
    }
    guard let base else { return }
    let made: [UInt8]?
    do throws(PatchFault) {
      made = try PatchReader.apply(bytes[...], to: base, limit: image.count).image
    } catch {
      made = nil
    }
    guard made == image else { throw .makesAnother(of: ContentIdentity(of: base)) }
    self.base = ContentIdentity(of: base)
  }
}

/// Why a file is no patch that helps.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum PrebuiltPatchFault: Error, Equatable, Sendable {
  /// There is nothing in it.
  case empty
  /// It is none, or not whole; where and why.
  case damaged(String)
  /// It is of a kind that no device takes.
  case kind(String)
  /// It makes so many bytes, and the image has others.
  case makesAnotherSize(Int, image: Int)
  /// What it makes of the base that was given is not the image.
  case makesAnother(of: ContentIdentity)
}

extension PrebuiltPatchFault: CustomStringConvertible {
  /// What is wrong: a clause about the file.
  public var description: String {
    switch self {
    case .empty: "it is empty"
    case .damaged(let why): "it is no whole patch: \(why)"
    case .kind(let kind): "it is \(kind), which devices do not take"
    case .makesAnotherSize(let bytes, let image):
      "it makes \(bytes) bytes, and the image has \(image)"
    case .makesAnother(let base):
      "it does not make the image of the base (\(base.words)): one of the three is another"
    }
  }
}
