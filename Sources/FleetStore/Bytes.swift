#if Fleet
import FoundationEssentials
import GRDB
import OtaflashFleet

extension DatabaseValue {
  init(bytes: [UInt8]) { self = Data(bytes).databaseValue }
}

extension Row {
  /// The limit of a plausible count; a larger value in a column is an error. Sums of such counts
  /// do not overflow.
  private static let countMaximum = 1 << 48

  /// Returns a count in a column.
  ///
  /// - Throws: a fault if another program wrote a number that otaflash never writes.
  func count(_ column: String) throws -> Int {
    let value: Int = self[column]
    guard (0...Self.countMaximum).contains(value) else {
      throw StorageFault(.unsound, "column \(column) of the store contains \(value)")
    }
    return value
  }

  /// Returns a time in a column.
  func time(_ column: String) throws -> WallClockTime {
    let milliseconds: Int64 = self[column]
    guard WallClockTime.range.contains(milliseconds) else {
      throw StorageFault(
        .unsound, "column \(column) of the store contains the time \(milliseconds)")
    }
    return WallClockTime(milliseconds: milliseconds)
  }

  /// Returns the bytes in a column. Empty bytes are not stored as NULL, so the column always has a
  /// value.
  func bytes(_ column: String) -> [UInt8] {
    let data: Data = self[column]
    return [UInt8](data)
  }
}
#endif
