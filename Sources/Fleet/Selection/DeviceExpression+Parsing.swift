import OtaflashFirmware

/// A syntax error of a selector; `column` counts characters from 1.
package struct SelectorFault: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Reason: Hashable, Sendable {
    case tooLong(limit: Int)
    case tooDeep(limit: Int)
    case expected(String)
    case unknownFact(String)
    case unclosedQuote
    case notOrdered(fact: String)
    case noPattern(fact: String)
    case badValue(fact: String, value: String)
  }

  package let reason: Reason
  package let column: Int

  package init(reason: Reason, column: Int) {
    self.reason = reason
    self.column = column
  }

  package var description: String {
    switch reason {
    case .tooLong(let limit): "a selector has at most \(limit) characters"
    case .tooDeep(let limit): "a selector has at most \(limit) levels of nesting"
    case .expected(let what): "expected \(what)"
    case .unknownFact(let fact):
      "'\(fact)' is not a fact; the facts are "
        + DeviceExpression.Fact.allCases.map(\.rawValue).joined(separator: ", ") + " or tag:NAME"
    case .unclosedQuote: "the quotation mark is not closed"
    case .notOrdered(let fact): "\(fact) has no order; use =, != or ~"
    case .noPattern(let fact): "\(fact) is not a string; ~ is not supported"
    case .badValue(let fact, let value): "'\(value)' is not a valid \(fact)"
    }
  }
}

extension DeviceExpression {
  private static let lengthMaximum = 4096
  fileprivate static let depthMaximum = 32

  /// Parses `board=door and (version<1.3.0 or not tag:lab)`; `and` binds tighter than `or`. Values
  /// with characters other than letters, digits and `._-:/*?&%+@` require double quotation marks.
  package init(parsing text: String) throws(SelectorFault) {
    guard text.count <= Self.lengthMaximum else {
      throw SelectorFault(reason: .tooLong(limit: Self.lengthMaximum), column: 1)
    }
    var parser = SelectorParser(tokens: try SelectorToken.all(in: text))
    self = try parser.whole()
  }
}

/// A token of a selector: a word, an operator, or the end.
private struct SelectorToken: Hashable {
  enum Kind: Hashable {
    case word(String)
    /// A word in quotation marks, which is never a keyword.
    case quoted(String)
    case relation(DeviceExpression.Relation)
    case open, close, end
  }

  let kind: Kind
  let column: Int

  private static let inWords = Set("._-:/*?&%+@")

  static func all(in text: String) throws(SelectorFault) -> [SelectorToken] {
    let characters = Array(text)
    var tokens: [SelectorToken] = []
    var place = 0
    while place < characters.count {
      let character = characters[place]
      let column = place + 1
      if character.isWhitespace {
        place += 1
      } else if character == "(" || character == ")" {
        tokens.append(SelectorToken(kind: character == "(" ? .open : .close, column: column))
        place += 1
      } else if character == "\"" {
        guard let end = characters[(place + 1)...].firstIndex(of: "\"") else {
          throw SelectorFault(reason: .unclosedQuote, column: column)
        }
        let inner = String(characters[(place + 1)..<end])
        tokens.append(SelectorToken(kind: .quoted(inner), column: column))
        place = end + 1
      } else if let relation = relation(at: place, in: characters) {
        tokens.append(SelectorToken(kind: .relation(relation), column: column))
        place += relation.rawValue.count
      } else if isInWord(character) {
        let end = characters[place...].firstIndex { !isInWord($0) } ?? characters.count
        let word = String(characters[place..<end])
        tokens.append(SelectorToken(kind: .word(word), column: column))
        place = end
      } else {
        throw SelectorFault(reason: .expected("a fact, a value or a parenthesis"), column: column)
      }
    }
    return tokens + [SelectorToken(kind: .end, column: characters.count + 1)]
  }

  private static func relation(
    at place: Int, in characters: [Character]
  ) -> DeviceExpression.Relation? {
    if place + 1 < characters.count,
      let long = DeviceExpression.Relation(rawValue: String(characters[place...(place + 1)]))
    {
      return long
    }
    return DeviceExpression.Relation(rawValue: String(characters[place]))
  }

  private static func isInWord(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || inWords.contains(character)
  }
}

/// Recursive descent over: or := and ("or" and)*; and := unary ("and" unary)*;
/// unary := "not" unary | "(" or ")" | tag:NAME | fact relation value.
private struct SelectorParser {
  let tokens: [SelectorToken]
  private var place = 0
  private var depth = 0

  init(tokens: [SelectorToken]) { self.tokens = tokens }

  private var next: SelectorToken { tokens[place] }

  mutating func whole() throws(SelectorFault) -> DeviceExpression {
    let expression = try alternatives()
    guard next.kind == .end else { throw expected("'and', 'or' or the end") }
    return expression
  }

  private mutating func alternatives() throws(SelectorFault) -> DeviceExpression {
    var left = try conjunction()
    while take(word: "or") { left = .or(left, try conjunction()) }
    return left
  }

  private mutating func conjunction() throws(SelectorFault) -> DeviceExpression {
    var left = try unary()
    while take(word: "and") { left = .and(left, try unary()) }
    return left
  }

  private mutating func unary() throws(SelectorFault) -> DeviceExpression {
    guard depth < DeviceExpression.depthMaximum else {
      throw SelectorFault(
        reason: .tooDeep(limit: DeviceExpression.depthMaximum), column: next.column)
    }
    depth += 1
    defer { depth -= 1 }
    if take(word: "not") { return .not(try unary()) }
    if case .open = next.kind {
      place += 1
      let inner = try alternatives()
      guard case .close = next.kind else { throw expected("a closing parenthesis") }
      place += 1
      return inner
    }
    return try comparison()
  }

  private mutating func comparison() throws(SelectorFault) -> DeviceExpression {
    guard case .word(let word) = next.kind else { throw expected("a fact such as board") }
    let column = next.column
    if word.hasPrefix("tag:") {
      place += 1
      let tag = String(word.dropFirst(4))
      guard tag.isEmpty else { return .tag(tag) }
      guard case .quoted(let quoted) = next.kind else { throw expected("the name of the tag") }
      place += 1
      return .tag(quoted)
    }
    guard let fact = DeviceExpression.Fact(rawValue: word) else {
      throw SelectorFault(reason: .unknownFact(word), column: column)
    }
    place += 1
    guard case .relation(let relation) = next.kind else {
      throw expected("=, !=, <, <=, >, >= or ~")
    }
    try check(relation, of: fact)
    place += 1
    return .compare(fact, relation, try operand(of: fact))
  }

  private func check(
    _ relation: DeviceExpression.Relation, of fact: DeviceExpression.Fact
  ) throws(SelectorFault) {
    let isOrdered = fact == .version || fact == .rssi
    if relation.ordersValues, !isOrdered {
      throw SelectorFault(reason: .notOrdered(fact: fact.rawValue), column: next.column)
    }
    if relation == .like, isOrdered {
      throw SelectorFault(reason: .noPattern(fact: fact.rawValue), column: next.column)
    }
  }

  private mutating func operand(
    of fact: DeviceExpression.Fact
  ) throws(SelectorFault) -> DeviceExpression.Operand {
    let text: String
    switch next.kind {
    case .word(let word): text = word
    case .quoted(let quoted): text = quoted
    case .relation, .open, .close, .end: throw expected("a value")
    }
    let operand: DeviceExpression.Operand?
    switch fact {
    case .version: operand = FirmwareVersion(text).map { .version($0) }
    case .rssi: operand = Int(text).map { .number($0) }
    case .id, .name, .board, .site: operand = .text(text)
    }
    guard let operand else {
      throw SelectorFault(
        reason: .badValue(fact: fact.rawValue, value: text), column: next.column)
    }
    place += 1
    return operand
  }

  private mutating func take(word: String) -> Bool {
    guard next.kind == .word(word) else { return false }
    place += 1
    return true
  }

  private func expected(_ what: String) -> SelectorFault {
    SelectorFault(reason: .expected(what), column: next.column)
  }
}
