import OtaflashFirmware
import OtaflashFleet
import Testing

@Suite struct SelectorTests {
  static let door = FleetDevice(
    id: "C0:FF:EE:00:00:01", name: "front door", board: "door-v2", site: "berlin",
    tags: ["lab", "big"], version: FirmwareVersion(1, 2, 9), rssi: -60)

  @Test(arguments: [
    ("board=door-v2", true), ("board = door", false), ("board!=door", true),
    ("version<1.3.0", true), ("version>=1.2.9", true), ("version>1.2.9", false),
    ("version<=1.2.10", true), ("version=1.2.9", true), ("version!=1.2.9", false),
    ("rssi>=-60", true), ("rssi<-60", false), ("rssi=-60", true), ("tag:lab", true),
    ("tag:none", false), ("not tag:lab", false), ("not not tag:lab", true), ("tag:\"lab\"", true),
    ("name=\"front door\"", true), ("name~front*", true), ("name~\"*t d*\"", true),
    ("name~*", true), ("name~door", false), ("id~C0:FF:*", true), ("site~b*n", true),
    ("board=door-v2 and version<1.3.0 and not tag:none", true),
    // `and` has precedence over `or`.
    ("tag:none and tag:none or tag:lab", true), ("tag:lab or tag:none and tag:none", true),
    ("(tag:lab or tag:none) and tag:none", false), ("not (tag:lab and tag:none)", true),
    ("not tag:none and tag:lab", true), ("((((tag:lab))))", true), ("  tag:lab  ", true),
  ])
  func aSelectorComparesTheStatedFacts(_ text: String, _ isMeant: Bool) throws {
    let truth = try DeviceExpression(parsing: text).truth(of: Self.door)
    #expect(truth == (isMeant ? .yes : .no))
  }

  /// Kleene's strong three-valued logic: with an unknown value, the result is unknown only if the
  /// other values do not determine it.
  @Test(arguments: [
    ("version<1.3.0", DeviceExpression.Truth.undecided), ("not version<1.3.0", .undecided),
    ("version<1.3.0 and tag:lab", .undecided), ("version<1.3.0 and tag:none", .no),
    ("tag:none and version<1.3.0", .no), ("version<1.3.0 or tag:lab", .yes),
    ("tag:lab or version<1.3.0", .yes), ("version<1.3.0 or tag:none", .undecided),
    ("board=x", .undecided), ("board!=x", .undecided), ("rssi>-200", .undecided),
    ("version<1.3.0 or not version<1.3.0", .undecided),
  ])
  func anUnknownFactIsNeitherTrueNorFalse(
    _ text: String, _ truth: DeviceExpression.Truth
  ) throws {
    let stranger = FleetDevice(id: "a", tags: ["lab"])
    #expect(try DeviceExpression(parsing: text).truth(of: stranger) == truth)
  }

  @Test(arguments: [
    ("", 1, SelectorFault.Reason.expected("a fact such as board")),
    ("board", 6, .expected("=, !=, <, <=, >, >= or ~")), ("board=", 7, .expected("a value")),
    ("bord=x", 1, .unknownFact("bord")), ("board<x", 6, .notOrdered(fact: "board")),
    ("version~1*", 8, .noPattern(fact: "version")),
    ("version<1.3", 9, .badValue(fact: "version", value: "1.3")),
    ("rssi<weak", 6, .badValue(fact: "rssi", value: "weak")),
    ("board=x and", 12, .expected("a fact such as board")),
    ("board=x board=y", 9, .expected("'and', 'or' or the end")),
    ("(board=x", 9, .expected("a closing parenthesis")), ("board=x)", 8, .expected("…")),
    ("name=\"x", 6, .unclosedQuote), ("board=x; rm", 8, .expected("…")),
    ("tag:", 5, .expected("the name of the tag")),
    ("\"board\"=x", 1, .expected("a fact such as board")),
  ])
  func aFaultStatesItsColumn(_ text: String, _ column: Int, _ reason: SelectorFault.Reason) {
    do throws(SelectorFault) {
      _ = try DeviceExpression(parsing: text)
      Issue.record("'\(text)' was read")
    } catch {
      #expect(error.column == column)
      #expect(!error.description.isEmpty)
      if reason != .expected("…") { #expect(error.reason == reason) }
    }
  }

  @Test func nestingAndLengthAreLimited() {
    let deep = String(repeating: "not ", count: 100) + "tag:x"
    #expect(throws: SelectorFault(reason: .tooDeep(limit: 32), column: 129)) {
      try DeviceExpression(parsing: deep)
    }
    #expect(throws: SelectorFault(reason: .tooLong(limit: 4096), column: 1)) {
      try DeviceExpression(parsing: String(repeating: " ", count: 4097))
    }
  }

  @Test func aSelectorListsItsFacts() throws {
    let selector = try DeviceExpression(
      parsing: "not (version<1.3.0 or tag:x) and board=y or version=1.0.0")
    #expect(selector.facts == [.board, .version])
  }

  /// The time for a pattern with many stars must be polynomial, not exponential.
  @Test func patternsAreMatchedInBoundedTime() {
    let text = String(repeating: "a", count: 2000)
    #expect(!Wildcard.matches(text, pattern: String(repeating: "*a", count: 300) + "b"))
    #expect(Wildcard.matches("", pattern: "**"))
    #expect(!Wildcard.matches("", pattern: "*a"))
    #expect(Wildcard.matches("abcabd", pattern: "*abd"))
  }
}
