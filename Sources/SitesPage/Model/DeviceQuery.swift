#if Sites
import OtaflashFleetReport

/// A part of a table of devices: a filter, an order and a page.
package struct DeviceQuery: Hashable, Sendable {
  package enum Order: String, Hashable, Sendable, CaseIterable {
    case name
    case device
    case wave
    case site
    case board
    case outcome
    case attempts
    case settled
  }

  /// The permitted number of rows on a page.
  package static let pageSizes = 1...200
  package static let pageSize = 50
  /// The maximum length of a search text, in Unicode scalars.
  package static let textMaximum = 100

  /// A part of a name or id, in upper or lower case; empty selects all devices.
  package var text = ""
  package var outcome: Outcome?
  /// The index of the wave, from 0.
  package var wave: Int?
  package var site: String?
  package var board: String?
  package var order = Order.name
  package var isDescending = false
  /// The number of the page, from 1.
  package var page = 1
  package var size = DeviceQuery.pageSize

  package init() {}
}

/// A page of a table.
package struct TablePage<Row: Sendable>: Sendable {
  package let rows: [Row]
  /// The number of rows on all pages.
  package let total: Int
  /// The number of the returned page, which may be lower than the requested number.
  package let page: Int
  package let size: Int

  package init(rows: [Row], total: Int, page: Int, size: Int) {
    self.rows = rows
    self.total = total
    self.page = page
    self.size = size
  }

  /// The number of pages, at least 1.
  package var pages: Int { max(1, (total + size - 1) / size) }

  package func map<Other>(_ transform: (Row) -> Other) -> TablePage<Other> {
    TablePage<Other>(rows: rows.map(transform), total: total, page: page, size: size)
  }
}

/// A text for searches that ignore upper and lower case.
struct SearchText: Hashable, Sendable {
  private let bytes: [UInt8]

  init(_ text: String) { bytes = Array(text.lowercased().utf8) }

  var isEmpty: Bool { bytes.isEmpty }

  func contains(_ other: SearchText) -> Bool {
    guard let first = other.bytes.first else { return true }
    let (length, last) = (other.bytes.count, bytes.count - other.bytes.count)
    guard last >= 0 else { return false }
    return bytes.withUnsafeBufferPointer { bytes in
      other.bytes.withUnsafeBufferPointer { other in
        var start = 0
        while start <= last {
          if bytes[start] == first {
            var offset = 1
            while offset < length, bytes[start + offset] == other[offset] { offset += 1 }
            if offset == length { return true }
          }
          start += 1
        }
        return false
      }
    }
  }
}
#endif
