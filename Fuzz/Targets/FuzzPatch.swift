import OtaflashDelta

private let base = (0..<200).map { UInt8($0 * 7 % 64) }

/// Any bytes are a patch or a stream of parts, or are rejected at one of the bytes; the image is
/// never longer than permitted.
func fuzzPatch(_ bytes: [UInt8]) {
  let limit = 1 << 12
  do throws(PatchFault) {
    let result = try PatchReader.apply(bytes[...], to: base, limit: limit, pageSize: 16)
    precondition((1...limit).contains(result.image.count))
    precondition(result.bytesAtPages.last == bytes.count || result.bytesAtPages.last != nil)
    precondition(result.bytesAtPages.allSatisfy { $0 <= bytes.count })
  } catch {
    precondition((0...bytes.count).contains(error.offset) && !error.description.isEmpty)
  }
  do throws(PatchFault) {
    let parts = try PatchParts.apply(
      bytes, to: base, imageSize: Int(bytes.first ?? 1), pageSize: 16)
    precondition(parts.image.count == Int(bytes.first ?? 1))
  } catch {
    precondition((0...bytes.count).contains(error.offset) && !error.description.isEmpty)
  }
  describe(bytes, limit)
}

/// Compares the description of a patch, which needs no base, with the result of applying it.
private func describe(_ bytes: [UInt8], _ limit: Int) {
  let file = PatchFile(of: bytes)
  do throws(PatchFault) {
    let result = try PatchReader.apply(bytes[...], to: base, limit: limit, pageSize: 16)
    precondition(file?.patch?.kind == .sequential && file?.patch?.hasDataFormat == false)
    precondition(file?.patch?.compression == .known(result.codec))
    precondition(file?.patch?.imageSize == result.image.count)
  } catch {
    // A patch for another base may also state its image size.
    precondition(file?.patch?.imageSize ?? 1 > 0)
  }
  let digest = [UInt8](repeating: 5, count: 32)
  let fill = [UInt8](repeating: 0, count: 28)
  let wrapped = PatchFile(of: [0x10, 0xDE, 0xCD, 0xFC] + digest + fill + bytes)
  precondition(wrapped?.baseDigest == digest)
  precondition(wrapped?.patch == PatchDescription(of: bytes[...]))
}
