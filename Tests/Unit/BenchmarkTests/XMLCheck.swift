/// A minimal XML reader that checks some of the rules of a well-formed document: elements nest, the
/// double quotes of each tag are balanced, and text contains no unescaped `<` or `&`.
struct XMLCheck {
  private(set) var isWellFormed = true
  private(set) var texts: [String] = []
  private var counts: [String: Int] = [:]

  init(_ document: String) {
    var open: [String] = []
    var rest = document[...]
    while let start = rest.firstIndex(of: "<") {
      read(text: rest[..<start])
      guard let end = rest[start...].firstIndex(of: ">") else {
        isWellFormed = false
        return
      }
      read(tag: rest[rest.index(after: start)..<end], open: &open)
      rest = rest[rest.index(after: end)...]
    }
    read(text: rest)
    if !open.isEmpty { isWellFormed = false }
  }

  func count(of element: String) -> Int { counts[element, default: 0] }

  private mutating func read(text: Substring) {
    guard text.contains(where: { !$0.isWhitespace }) else { return }
    var plain = String(text)
    for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&amp;", "\u{1}")] {
      plain = plain.replacing(entity, with: character)
    }
    if plain.contains("&") { isWellFormed = false }
    texts.append(plain.replacing("\u{1}", with: "&"))
  }

  private mutating func read(tag: Substring, open: inout [String]) {
    if tag.hasPrefix("/") {
      if open.popLast() != String(tag.dropFirst()) { isWellFormed = false }
      return
    }
    let name = String(tag.prefix { $0 != " " && $0 != "/" })
    counts[name, default: 0] += 1
    let isClosed = tag.hasSuffix("/")
    let attributes = tag.dropFirst(name.count).filter { $0 == "\"" }.count
    if name.isEmpty || !attributes.isMultiple(of: 2) { isWellFormed = false }
    if !isClosed { open.append(name) }
  }
}
