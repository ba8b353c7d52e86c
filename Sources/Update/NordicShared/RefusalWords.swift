import OtaflashGATT

/// The meaning of a refusal: the parts of a `ProtocolRefusal` that depend on its code.
struct RefusalWords: Equatable, Sendable {
  /// The error: a clause without a full stop.
  let meaning: String
  /// The correction: one or two complete sentences.
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
