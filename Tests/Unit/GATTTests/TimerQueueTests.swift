import OtaflashATT
import Testing

@testable import OtaflashGATT

@Suite struct TimerQueueTests {
  @Test func timersFireInOrderOfDeadlineThenOfInsertion() {
    var queue = TimerQueue<Int>()
    var state: UInt64 = 7
    var expected: [(deadline: Int, number: Int)] = []
    for number in 0..<2_000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let deadline = Int(state >> 56)
      let token = queue.insert(number, at: LinkInstant(elapsed: .seconds(deadline)))
      if number % 4 == 0 {
        expected.append((deadline, number))
      } else {
        let (first, second) = (queue.cancel(token), queue.cancel(token))
        #expect(first && !second)
      }
    }
    var fired: [Int] = []
    while let payload = queue.popDue(at: LinkInstant(elapsed: .seconds(1_000))) {
      fired.append(payload)
    }
    #expect(
      fired == expected.sorted { ($0.deadline, $0.number) < ($1.deadline, $1.number) }.map(\.number)
    )
    #expect(queue.isEmpty)
    let next = queue.nextDeadline()
    #expect(next == nil)
  }
}
