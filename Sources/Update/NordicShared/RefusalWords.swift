import OtaflashGATT

/// What a refusal means: the parts of a `ProtocolRefusal` that a code stands for.
struct RefusalWords: Equatable, Sendable {
  /// What was wrong: a clause without a full stop.
  let meaning: String
  /// What to do about it: one or two whole sentences.
  let advice: String
  let kind: ProtocolRefusal.Kind
  let remedy: Remedy?

  init(
    _ meaning: String, _ advice: String, _ kind: ProtocolRefusal.Kind, remedy: Remedy? = nil
  ) {
    self.meaning = meaning
    self.advice = advice
    self.kind = kind
    self.remedy = remedy
  }
}

extension ProtocolRefusal {
  init(code: String, _ words: RefusalWords) {
    self.init(
      code: code, meaning: words.meaning, advice: words.advice, kind: words.kind,
      remedy: words.remedy)
  }
}
