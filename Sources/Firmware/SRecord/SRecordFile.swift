/// A Motorola S-record file as one memory range, from its lowest to its highest address.
package struct SRecordFile: AddressedFile, Equatable, Sendable {
  /// The image: the records at their addresses, and 0xFF in gaps.
  package let bytes: [UInt8]
  /// The addresses of the image.
  package let layout: AddressLayout

  /// Decodes a complete file. Lines end with LF, CRLF or CR; blank lines, trailing blanks and a
  /// UTF-8 byte order mark are allowed. Records may be in any order of addresses, but must not
  /// overlap. The last record is of type 7, 8 or 9, or a correct count of all data records. A file
  /// that ends with such a count is complete, because srec_cat writes no other last record if there
  /// is no start address.
  /// - Parameters:
  ///   - text: the complete file.
  ///   - spanLimit: the maximum number of bytes from the lowest to the highest address.
  ///   - region: the part of the file to use; `nil` for all data except known regions.
  /// - Throws: an error with its line, or an error of the addresses.
  package init(
    decoding text: [UInt8], spanLimit: Int, region: AddressRegion? = nil
  ) throws(TextFault<SRecordFault>) {
    var memory = SRecordMemory()
    var lines = TextLines(text)
    while let line = lines.next() {
      if line.isEmpty { continue }
      do throws(SRecordFault) {
        try memory.add(SRecord(decoding: line), line: lines.number)
      } catch {
        throw .line(lines.number, error)
      }
    }
    (bytes, layout) = try memory.image(
      lastLine: max(lines.number, 1),
      in: AddressedMemory.Window(spanLimit: spanLimit, region: region))
  }
}

/// The memory of a file, filled record by record.
private struct SRecordMemory {
  private enum Phase {
    case reading
    /// The last record is a correct count of all data records so far.
    case counted(line: Int)
    case ended(line: Int, start: UInt32)
  }

  private var phase = Phase.reading
  private var dataRecords = 0
  private var memory = AddressedMemory()

  mutating func add(_ record: SRecord, line: Int) throws(SRecordFault) {
    if case .ended(let end, _) = phase { throw .recordAfterEnd(end: end) }
    switch record {
    case .header: break
    case .data(let address, let bytes):
      dataRecords += 1
      phase = .reading
      memory.append(bytes[...], at: address, origin: line)
    case .count(let stated):
      guard Int(stated) == dataRecords else {
        throw .wrongCount(stated: stated, found: dataRecords)
      }
      phase = .counted(line: line)
    case .end(let start): phase = .ended(line: line, start: start)
    }
  }

  /// Returns the bytes from the lowest to the highest address. Requires that all lines were added.
  func image(
    lastLine: Int, in window: AddressedMemory.Window
  ) throws(TextFault<SRecordFault>) -> ([UInt8], AddressLayout) {
    let end: Int
    var start: UInt32 = 0
    switch phase {
    case .reading: throw .line(lastLine, .endMissing)
    case .counted(let line): end = line
    case .ended(let line, let address): (end, start) = (line, address)
    }
    guard !memory.isEmpty else { throw .line(end, .noData) }
    do throws(AddressedMemory.Fault) {
      return try memory.image(start: start == 0 ? nil : .linear(start), in: window)
    } catch {
      switch error {
      case .overlap(let address, let first, let second):
        throw .line(second, .overlap(address: address, other: first))
      case .addresses(let fault): throw .addresses(fault)
      }
    }
  }
}
