#if Fleet
import FoundationEssentials
import GRDB

extension DatabaseValue {
  init(octets: [UInt8]) { self = Data(octets).databaseValue }
}

extension Row {
  /// A column that holds octets; an empty one is stored as such, not as NULL.
  func octets(_ column: String) -> [UInt8] {
    let data: Data = self[column]
    return [UInt8](data)
  }
}
#endif
