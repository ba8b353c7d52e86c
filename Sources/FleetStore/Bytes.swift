#if Fleet
import FoundationEssentials
import GRDB
import OtaflashFleet

extension DatabaseValue {
  init(bytes: [UInt8]) { self = Data(bytes).databaseValue }
}

extension Row {
  /// More than any store holds of anything, and far from overflow.
  private static let countMaximum = 1 << 48

  /// A column that counts something.
  ///
  /// - Throws: a fault where another hand wrote a number that otaflash never writes.
  func count(_ column: String) throws -> Int {
    let value: Int = self[column]
    guard (0...Self.countMaximum).contains(value) else {
      throw StorageFault(.unsound, "column \(column) of the store holds \(value)")
    }
    return value
  }

  /// A column that holds a time.
  func time(_ column: String) throws -> WallClockTime {
    let milliseconds: Int64 = self[column]
    guard WallClockTime.range.contains(milliseconds) else {
      throw StorageFault(.unsound, "column \(column) of the store holds the time \(milliseconds)")
    }
    return WallClockTime(milliseconds: milliseconds)
  }

  /// A column that holds bytes; an empty one is stored as such, not as NULL.
  func bytes(_ column: String) -> [UInt8] {
    let data: Data = self[column]
    return [UInt8](data)
  }
}
#endif
