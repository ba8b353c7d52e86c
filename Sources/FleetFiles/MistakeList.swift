#if Fleet
/// The mistakes of one file, collected while the file is read, and reported together.
final class MistakeList {
  /// The maximum number of listed mistakes; further mistakes are only counted.
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

  /// Returns the value of `body`; `nil` after a mistake.
  func attempt<Value>(_ body: () throws(CampaignFileFault) -> Value) -> Value? {
    do throws(CampaignFileFault) { return try body() } catch {
      note(error)
      return nil
    }
  }

  /// - Throws: all mistakes as one fault, sorted by position.
  func finish() throws(CampaignFileFault) {
    let sorted = mistakes.sorted { $0.place < $1.place }
    guard var first = sorted.first else { return }
    first.further = Array(sorted.dropFirst())
    first.omitted = omitted
    throw first
  }
}
#endif
