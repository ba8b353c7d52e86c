import ArgumentParser

/// An element of a list such as `23,185,247`.
package protocol ListElement: Sendable {
  init?(listText: String)
  var listText: String { get }
  /// The format of an element, for error messages.
  static var expected: String { get }
}

/// One or more distinct values that are separated by commas.
package struct CommaList<Element: ListElement & Hashable>: Sendable, CustomStringConvertible {
  package let elements: [Element]

  package init(_ elements: [Element]) { self.elements = elements }

  package static func parse(_ text: String) throws -> CommaList {
    var elements: [Element] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let element = Element(listText: String(part)) else {
        throw ValidationError("'\(part)' is not \(Element.expected)")
      }
      guard !elements.contains(element) else {
        throw ValidationError("'\(part)' is specified twice")
      }
      elements.append(element)
    }
    return CommaList(elements)
  }

  package var description: String { elements.map(\.listText).joined(separator: ",") }
}
