/// An Intel HEX file as one memory range, from its lowest to its highest address.
package struct IntelHexFile: AddressedFile, Equatable, Sendable {
  /// The image: the records at their addresses, and 0xFF in gaps.
  package let bytes: [UInt8]
  /// The addresses of the image.
  package let layout: AddressLayout

  /// Decodes a complete file. Lines end with LF, CRLF or CR; blank lines, trailing blanks and a
  /// UTF-8 byte order mark are allowed. Records may be in any order of addresses, but must not
  /// overlap.
  /// - Parameters:
  ///   - text: the complete file.
  ///   - spanLimit: the maximum number of bytes from the lowest to the highest address.
  ///   - region: the part of the file to use; `nil` for all data except known regions.
  /// - Throws: an error with its line, or an error of the addresses.
  package init(
    decoding text: [UInt8], spanLimit: Int, region: AddressRegion? = nil
  ) throws(TextFault<IntelHexFault>) {
    var memory = IntelHexMemory()
    var lines = TextLines(text)
    while let line = lines.next() {
      if line.isEmpty { continue }
      do throws(IntelHexFault) {
        try memory.add(IntelHexRecord(decoding: line), line: lines.number)
      } catch {
        throw .line(lines.number, error)
      }
    }
    (bytes, layout) = try memory.image(
      lastLine: max(lines.number, 1),
      in: AddressedMemory.Window(spanLimit: spanLimit, region: region))
  }
}
