/// A Motorola S-record file as one stretch of memory, from its lowest to its highest address.
public struct SRecordFile: Equatable, Sendable {
  public let bytes: [UInt8]
  public let layout: AddressLayout

  /// Reads a whole file. Lines end with LF, CRLF or CR; blank lines and trailing blanks are
  /// allowed. Records may come in any order of addresses but must not overlap.
  /// - Parameter spanLimit: the largest number of bytes between lowest and highest address.
  /// - Throws: `.sRecord` with the line, counted from 1, and what is wrong with it.
  public init(decoding text: [UInt8], spanLimit: Int) throws(FirmwareFault) {
    var memory = SRecordMemory(spanLimit: spanLimit)
    var lines = TextLines(text)
    while let line = lines.next() {
      if line.isEmpty { continue }
      do throws(SRecordFault) {
        try memory.add(SRecord(decoding: line), line: lines.number)
      } catch {
        throw .sRecord(line: lines.number, error)
      }
    }
    (bytes, layout) = try memory.image(lastLine: max(lines.number, 1))
  }
}

/// The memory that the records of a file describe, while they come in.
private struct SRecordMemory {
  private enum Phase {
    case reading
    case ended(line: Int, start: UInt32)
  }

  private var phase = Phase.reading
  private var dataRecords = 0
  private var memory: AddressedMemory

  init(spanLimit: Int) { memory = AddressedMemory(spanLimit: spanLimit) }

  mutating func add(_ record: SRecord, line: Int) throws(SRecordFault) {
    if case .ended(let end, _) = phase { throw .recordAfterEnd(end: end) }
    switch record {
    case .header: break
    case .data(let address, let octets):
      dataRecords += 1
      do throws(AddressedMemory.Fault) {
        try memory.append(octets[...], at: address, origin: line)
      } catch {
        throw SRecordFault(error)
      }
    case .count(let stated):
      guard Int(stated) == dataRecords else {
        throw .wrongCount(stated: stated, found: dataRecords)
      }
    case .end(let start): phase = .ended(line: line, start: start)
    }
  }

  /// The bytes from the lowest to the highest address, once every line was added.
  func image(lastLine: Int) throws(FirmwareFault) -> ([UInt8], AddressLayout) {
    guard case .ended(let end, let start) = phase else {
      throw .sRecord(line: lastLine, .endMissing)
    }
    guard !memory.isEmpty else { throw .sRecord(line: end, .noData) }
    do throws(AddressedMemory.Fault) {
      return try memory.image(start: start == 0 ? nil : .linear(start))
    } catch {
      throw .sRecord(line: error.secondOrigin ?? end, SRecordFault(error))
    }
  }
}

extension SRecordFault {
  fileprivate init(_ fault: AddressedMemory.Fault) {
    switch fault {
    case .overlap(let address, let first, _): self = .overlap(address: address, other: first)
    case .spanTooLarge(let lowest, let highest, let limit):
      self = .spanTooLarge(lowest: lowest, highest: highest, limit: limit)
    }
  }
}
