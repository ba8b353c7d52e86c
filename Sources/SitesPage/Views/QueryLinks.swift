#if Sites
import OtaflashFleet
import OtaflashFleetReport

/// A query of a table that can be encoded in addresses.
protocol LinkedQuery {
  associatedtype Order: Equatable
  var order: Order { get set }
  var isDescending: Bool { get set }
  /// The values of the query without the page number; a value is `nil` if it is the default.
  var parts: [(String, String?)] { get }
}

extension LinkedQuery {
  func link(_ path: String, page: Int) -> String {
    QueryText.link(path, parts + [("page", page == 1 ? nil : "\(page)")])
  }

  /// Returns the link that sorts by a column, or reverses the order of this column.
  func link(_ path: String, sortedBy order: Order) -> String {
    var query = self
    query.isDescending = self.order == order && !isDescending
    query.order = order
    return QueryText.link(path, query.parts)
  }
}

extension DeviceQuery: LinkedQuery {
  init(_ values: FormValues) throws(PageError) {
    self.init()
    text = try QueryText.text(values)
    if let name = values["outcome"] {
      guard let outcome = Outcome(rawValue: name) else { throw .badRequest("unknown outcome") }
      self.outcome = outcome
    }
    // Waves are numbered from 1 in addresses.
    wave = try QueryText.number(values, "wave", 1...Campaign.wavesMaximum).map { $0 - 1 }
    site = values["site"]
    board = values["board"]
    if let name = values["sort"] {
      guard let order = Order(rawValue: name) else { throw .badRequest("unknown order") }
      self.order = order
    }
    isDescending = try QueryText.isDescending(values)
    (page, size) = try QueryText.page(values)
  }

  var parts: [(String, String?)] {
    [
      ("q", text), ("outcome", outcome?.rawValue), ("wave", wave.map { "\($0 + 1)" }),
      ("site", site), ("board", board), ("sort", order == .name ? nil : order.rawValue),
      ("order", isDescending ? "desc" : nil), ("size", size == Self.pageSize ? nil : "\(size)"),
    ]
  }
}

extension InventoryQuery: LinkedQuery {
  init(_ values: FormValues) throws(PageError) {
    self.init()
    text = try QueryText.text(values)
    site = values["site"]
    board = values["board"]
    version = values["version"]
    if let name = values["sort"] {
      guard let order = Order(rawValue: name) else { throw .badRequest("unknown order") }
      self.order = order
    }
    isDescending = try QueryText.isDescending(values)
    (page, size) = try QueryText.page(values)
  }

  var parts: [(String, String?)] {
    [
      ("q", text), ("site", site), ("board", board), ("version", version),
      ("sort", order == .name ? nil : order.rawValue), ("order", isDescending ? "desc" : nil),
      ("size", size == DeviceQuery.pageSize ? nil : "\(size)"),
    ]
  }
}

/// Encoding and decoding of the values that several queries have.
enum QueryText {
  private static let pageMaximum = 1_000_000

  static func text(_ values: FormValues) throws(PageError) -> String {
    let text = values["q"] ?? ""
    guard text.unicodeScalars.count <= DeviceQuery.textMaximum else {
      throw .badRequest("the search text has more than \(DeviceQuery.textMaximum) characters")
    }
    return text
  }

  static func isDescending(_ values: FormValues) throws(PageError) -> Bool {
    switch values["order"] {
    case nil, "asc": return false
    case "desc": return true
    case .some: throw .badRequest("the order must be asc or desc")
    }
  }

  static func page(_ values: FormValues) throws(PageError) -> (page: Int, size: Int) {
    let page = try number(values, "page", 1...pageMaximum) ?? 1
    return (page, try number(values, "size", DeviceQuery.pageSizes) ?? DeviceQuery.pageSize)
  }

  static func number(
    _ values: FormValues, _ name: String, _ range: ClosedRange<Int>
  ) throws(PageError) -> Int? {
    guard let text = values[name] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw .badRequest("\(name) must be a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  static func link(_ path: String, _ parts: [(String, String?)]) -> String {
    let values = parts.compactMap { name, value -> String? in
      guard let value, !value.isEmpty else { return nil }
      return "\(name)=\(Address.encoded(value))"
    }
    return values.isEmpty ? path : path + "?" + values.joined(separator: "&")
  }
}
#endif
