/// What a refusal means: the parts of a `ProtocolRefusal` that a code stands for.
struct RefusalWords: Equatable, Sendable {
  /// What was wrong: a clause without a full stop.
  let meaning: String
  /// What to do about it: one or two whole sentences.
  let remedy: String
  let kind: ProtocolRefusal.Kind
  /// As `ProtocolRefusal.startsOver`.
  let startsOver: Bool

  init(
    _ meaning: String, _ remedy: String, _ kind: ProtocolRefusal.Kind, startsOver: Bool = false
  ) {
    self.startsOver = startsOver
    self.meaning = meaning
    self.remedy = remedy
    self.kind = kind
  }
}

extension ProtocolRefusal {
  init(code: String, _ words: RefusalWords) {
    self.init(
      code: code, meaning: words.meaning, remedy: words.remedy, kind: words.kind,
      startsOver: words.startsOver)
  }
}
