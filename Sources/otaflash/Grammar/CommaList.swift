import ArgumentParser

/// An element of a list such as `23,185,247`.
protocol ListElement: Sendable {
  init?(listText: String)
  var listText: String { get }
  /// What an element must look like, for the error.
  static var expected: String { get }
}

/// One or more values with commas between them, none of them twice.
struct CommaList<Element: ListElement & Hashable>: Sendable, CustomStringConvertible {
  let elements: [Element]

  init(_ elements: [Element]) { self.elements = elements }

  static func parse(_ text: String) throws -> CommaList {
    var elements: [Element] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let element = Element(listText: String(part)) else {
        throw ValidationError("'\(part)' is not \(Element.expected)")
      }
      guard !elements.contains(element) else {
        throw ValidationError("'\(part)' is there twice")
      }
      elements.append(element)
    }
    return CommaList(elements)
  }

  var description: String { elements.map(\.listText).joined(separator: ",") }
}
