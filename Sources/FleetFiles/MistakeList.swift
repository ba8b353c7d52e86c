#if Fleet
/// The mistakes of one file, collected while the rest of it is read, so that all are reported
/// together.
final class MistakeList {
  /// Mistakes that are reported in full; further ones are counted.
  static let maximum = 20

  private var mistakes: [CampaignFileFault] = []
  private var omitted = 0

  var isFull: Bool { mistakes.count == Self.maximum }

  func note(_ fault: CampaignFileFault) {
    guard mistakes.count < Self.maximum else {
      omitted += 1
      return
    }
    mistakes.append(fault)
  }

  func note(at place: FilePlace, _ words: String) { note(CampaignFileFault(at: place, words)) }

  /// The value of `body`; `nil` where it is a mistake.
  func attempt<Value>(_ body: () throws(CampaignFileFault) -> Value) -> Value? {
    do throws(CampaignFileFault) { return try body() } catch {
      note(error)
      return nil
    }
  }

  /// - Throws: all mistakes as one fault, in the order of their places.
  func finish() throws(CampaignFileFault) {
    let sorted = mistakes.sorted { $0.place < $1.place }
    guard var first = sorted.first else { return }
    first.further = Array(sorted.dropFirst())
    first.omitted = omitted
    throw first
  }
}
#endif
