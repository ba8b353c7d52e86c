/// A JSON value for output, which keeps the order of an object's members.
package enum JSONValue: Equatable, Sendable {
  case null
  case bool(Bool)
  case integer(Int)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([Member])

  package struct Member: Equatable, Sendable {
    package let name: String
    package let value: JSONValue

    package init(name: String, value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// Returns an object that contains only the members that have a value.
  package static func object(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
    .object(fields(members))
  }

  package static func fields(_ members: KeyValuePairs<String, JSONValue?>) -> [Member] {
    members.compactMap { name, value in value.map { Member(name: name, value: $0) } }
  }

  /// The value on one line (RFC 8259), without characters that control a terminal.
  package var text: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): String(value)
    case .number(let value): value.isFinite ? Text.decimal(value) : "null"
    case .string(let value): Self.quoted(value)
    case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { Self.quoted($0.name) + ":" + $0.value.text }.joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      case _ where VisibleText.isHidden(scalar): quoted += VisibleText.code(scalar)
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(integerLiteral value: Int) { self = .integer(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }

  /// Returns the text of an optional value as a JSON string; `nil` without a value.
  package static func text(_ value: (some CustomStringConvertible)?) -> JSONValue? {
    value.map { .string($0.description) }
  }

  package static func integer(_ value: Int?) -> JSONValue? { value.map { .integer($0) } }
}
