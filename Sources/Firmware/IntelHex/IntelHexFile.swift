/// An Intel HEX file as one stretch of memory, from its lowest to its highest address.
package struct IntelHexFile: AddressedFile, Equatable, Sendable {
  /// The image: the records at their addresses, and 0xFF between.
  package let bytes: [UInt8]
  /// Where the image lies.
  package let layout: AddressLayout

  /// Reads a whole file. Lines end with LF, CRLF or CR; blank lines and trailing blanks are
  /// allowed. Records may come in any order of addresses but must not overlap.
  /// A byte order mark of UTF-8 is passed over.
  /// - Parameters:
  ///   - text: the whole file.
  ///   - spanLimit: the largest number of bytes between lowest and highest address.
  ///   - region: the part of the file that is wanted; `nil` for all but known regions.
  /// - Throws: what is wrong, with the line.
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
