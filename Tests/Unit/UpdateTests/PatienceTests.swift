import OtaflashATT
import Testing

@testable import OtaflashUpdate

/// Tests of the definition of progress, and of the time limit without progress.
@Suite struct PatienceTests {
  private static let start = LinkInstant(elapsed: .zero)

  /// Checks `marks` once a second, starting at 0. Returns the second at which the limit is
  /// exceeded, or `nil` if it is not exceeded.
  private func looks(at marks: (Int) -> Patience.Marks) -> Int? {
    var patience = Patience(limit: .seconds(25), at: Self.start)
    for second in 0..<1000 {
      do throws(UpdateFault) {
        try patience.check(marks(second), at: Self.start.advanced(by: .seconds(second)))
      } catch {
        // The limit is 25 s, and the check after it is at 26 s.
        #expect(error == .stalled(atOffset: marks(second).acknowledged, waited: .seconds(26)))
        return second
      }
    }
    return nil
  }

  @Test func noProgressEndsAfterTheLimit() {
    #expect(looks { _ in Patience.Marks() } == 26)
  }

  @Test func aFluctuatingValueIsNotProgress() {
    #expect(looks { Patience.Marks(granted: $0 % 2) } == 27)
    #expect(looks { Patience.Marks(granted: 49 - $0 % 50) } == 26)
    #expect(looks { Patience.Marks(durable: $0 * 7 % 5) } == 28)
    #expect(looks { Patience.Marks(acknowledged: 100 + $0 % 3) } == 28)
  }

  @Test func everyRisingValueIsProgress() {
    #expect(looks { Patience.Marks(acknowledged: $0 / 24) } == nil)
    #expect(looks { Patience.Marks(durable: $0 / 24) } == nil)
    #expect(looks { Patience.Marks(granted: $0 / 24) } == nil)
  }

  @Test func aStoppedHostChecksAgainBeforeATimeout() throws {
    var patience = Patience(limit: .seconds(25), at: Self.start)
    try patience.check(Patience.Marks(acknowledged: 10), at: Self.start)
    let later = Self.start.advanced(by: .seconds(3600))
    for _ in 1..<Patience.looksMinimum {
      try patience.check(Patience.Marks(acknowledged: 10), at: later)
    }
    #expect(throws: UpdateFault.self) {
      try patience.check(Patience.Marks(acknowledged: 10), at: later)
    }
  }

  @Test func recoveryFromASetbackIsProgress() throws {
    var patience = Patience(limit: .seconds(25), at: Self.start)
    try patience.check(Patience.Marks(acknowledged: 1000), at: Self.start)
    patience.fellBack(to: 0)
    for step in 1...10 {
      let now = Self.start.advanced(by: .seconds(20 * step))
      try patience.check(Patience.Marks(acknowledged: 100 * step), at: now)
    }
  }

  @Test func repeatedBytesRestartTheLimit() throws {
    var patience = Patience(limit: .seconds(25), at: Self.start)
    for _ in 0..<Patience.looksMinimum { try patience.check(Patience.Marks(), at: Self.start) }
    patience.resends(at: Self.start.advanced(by: .seconds(20)))
    for second in [30, 40, 45] {
      try patience.check(Patience.Marks(), at: Self.start.advanced(by: .seconds(second)))
    }
    #expect(throws: UpdateFault.self) {
      try patience.check(Patience.Marks(), at: Self.start.advanced(by: .seconds(46)))
    }
  }
}
