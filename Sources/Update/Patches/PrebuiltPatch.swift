import OtaflashDelta
import OtaflashFirmware

/// A patch created in advance against the running image, by detools or `otaflash image patch`. The
/// header of a patch for ESP-IDF's `esp_delta_ota`, or of a part, is omitted.
///
/// A patch identifies neither its base nor its result, so it is only a shorter way to send a given
/// image. The checksum of each part and the checksum of the image verify that the device created
/// this image.
public struct PrebuiltPatch: Equatable, Sendable {
  /// The bytes of the patch without a header.
  let bytes: [UInt8]
  let codec: PatchCodec
  /// The size in bytes of the image that the patch creates.
  public let imageSize: Int
  /// The base from which the patch verifiably created the image; `nil` = not checked yet.
  public private(set) var base: ContentIdentity?

  /// Creates a patch from a file.
  ///
  /// - Parameter file: all bytes of the file.
  /// - Throws: the reason why no device accepts the file as a patch.
  public init(_ file: [UInt8]) throws(PrebuiltPatchFault) {
    guard !file.isEmpty else { throw .empty }
    bytes = Array(PatchFile.patch(in: file))
    let description: PatchDescription
    do throws(PatchFault) { description = try PatchDescription(reading: bytes[...]) } catch {
      throw .damaged("\(error)")
    }
    guard description.kind == .sequential || description.kind == .mapped else {
      throw .kind("an \(description.kind.name) patch")
    }
    guard !description.hasDataFormat else { throw .kind("a patch with a data format") }
    switch description.compression {
    case .known(let codec): self.codec = codec
    case .foreign(let name): throw .kind("compressed with \(name)")
    }
    imageSize = description.imageSize
  }

  /// Verifies that the patch creates the image from the base. Without the base, verifies only that
  /// the patch creates an image of the same size.
  ///
  /// - Parameters:
  ///   - image: the image that the patch must create.
  ///   - base: the base of the patch, to which the patch is applied; `nil` if it is not available.
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

/// The reason why a file is not a usable patch.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum PrebuiltPatchFault: Error, Equatable, Sendable {
  /// The file is empty.
  case empty
  /// The file is not a patch or is incomplete; the text states the position and the reason.
  case damaged(String)
  /// No device accepts this kind of patch.
  case kind(String)
  /// The patch creates this number of bytes, but the image has another size.
  case makesAnotherSize(Int, image: Int)
  /// The patch applied to the given base does not create the image.
  case makesAnother(of: ContentIdentity)
}

extension PrebuiltPatchFault: CustomStringConvertible {
  /// The problem, as a clause about the file.
  public var description: String {
    switch self {
    case .empty: "it is empty"
    case .damaged(let why): "it is not a complete patch: \(why)"
    case .kind(let kind): "it is \(kind), which devices do not accept"
    case .makesAnotherSize(let bytes, let image):
      "it creates \(bytes) bytes, but the image has \(image)"
    case .makesAnother(let base):
      "applied to the base (\(base.words)), it does not create the image: one file is wrong"
    }
  }
}
