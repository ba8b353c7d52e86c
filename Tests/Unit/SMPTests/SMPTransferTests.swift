import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

@Suite struct SMPTransferTests {
  /// Requests with 100 bytes of the image.
  private static let size = SMPPacketSize(
    bytes: 244, announcement: .init(size: 10_000, sha: [UInt8](repeating: 1, count: 32)),
    dataLimit: 100)

  /// A window whose requests are numbered from 0, and the data that it sent.
  private struct Bench {
    var window: SMPTransfer
    var sent: [UInt8: Range<Int>] = [:]
    var next: UInt8 = 0

    init(
      total: Int = 10_000, from offset: Int = 0, unit: SMPWriteUnit = .known(1), width: Int = 3,
      reach: Int? = nil
    ) {
      window = SMPTransfer(
        total: total, startingAt: offset, unit: unit, widthLimit: width, reach: reach ?? width)
    }

    /// Sends all permitted requests and returns their numbers.
    mutating func fill() -> [UInt8] {
      var numbers: [UInt8] = []
      while let range = window.sendable(SMPTransferTests.size) {
        window.sent(range, as: next)
        sent[next] = range
        numbers.append(next)
        next &+= 1
      }
      return numbers
    }

    /// Answers each request like a server that has received everything.
    mutating func answerWell(_ numbers: [UInt8]) throws {
      for number in numbers {
        let end = try #require(sent[number]).upperBound
        #expect(try window.answered(number, requesting: end) == .proceed)
      }
    }
  }

  @Test("the window starts at one and grows with each answer, up to its limit")
  func growth() throws {
    var bench = Bench(from: 100)
    var widths: [Int] = []
    for _ in 0..<5 {
      let numbers = bench.fill()
      widths.append(numbers.count)
      try bench.answerWell(numbers)
    }
    #expect(widths == [1, 2, 3, 3, 3])
    #expect(bench.window.acknowledged == 100 + 12 * 100)
  }

  @Test("more requests than buffers are tried until one is lost; then the number stays lower")
  func reach() throws {
    var bench = Bench(from: 100, reach: 6)
    var widths: [Int] = []
    for _ in 0..<5 {
      let numbers = bench.fill()
      widths.append(numbers.count)
      try bench.answerWell(numbers)
    }
    #expect(widths == [1, 2, 3, 4, 5] && bench.window.width == 6)
    // The last of six requests finds no buffer, which the following answers show.
    #expect(bench.fill() == [15, 16, 17, 18, 19, 20])
    try bench.answerWell([15, 16, 17, 18, 19])
    let behind = bench.fill()
    #expect(behind == [21, 22, 23, 24, 25])
    for number in behind.dropLast() {
      #expect(try bench.window.answered(number, requesting: 2100) == .proceed)
    }
    #expect(try bench.window.answered(25, requesting: 2100) == .rewound(to: 2100, because: .gap))
    #expect(bench.window.width == 3, "the number of buffers")
    for _ in 0..<9 { try bench.answerWell(bench.fill()) }
    #expect(bench.window.width == 5, "one less than the window with a loss")
  }

  @Test("the last request waits until a buffer is free for it")
  func lastRequest() throws {
    var bench = Bench(total: 2_100, from: 100, reach: 6)
    for _ in 0..<5 { try bench.answerWell(bench.fill()) }
    #expect(bench.fill() == [15, 16, 17, 18], "the fifth would be the last")
    try bench.answerWell([15])
    #expect(bench.fill() == [])
    try bench.answerWell([16])
    #expect(bench.fill() == [19])
    try bench.answerWell([17, 18, 19])
    #expect(bench.window.isComplete)
  }

  @Test("silence reduces a wide window to the server's buffers")
  func silenceWhenWide() throws {
    var bench = Bench(from: 100, reach: 6)
    for _ in 0..<5 { try bench.answerWell(bench.fill()) }
    #expect(bench.fill().count == 6)
    #expect(try bench.window.timedOut(after: .seconds(5)) == .rewound(to: 1600, because: .silence))
    #expect(bench.window.width == 1)
    for _ in 0..<20 { try bench.answerWell(bench.fill()) }
    #expect(bench.window.width == 5)
  }

  @Test("the first request is sent alone, and the server may already have more")
  func resume() throws {
    var bench = Bench()
    #expect(bench.fill() == [0])
    #expect(bench.window.awaitsFirst)
    #expect(try bench.window.answered(0, requesting: 4_000) == .proceed)
    #expect(bench.window.acknowledged == 4_000 && bench.window.next == 4_000)
    #expect(bench.fill().count == 2)
  }

  @Test("an answer inside the only request determines the server's unit, and is not a loss")
  func partTaken() throws {
    var bench = Bench(from: 4_096, unit: .unknown)
    #expect(bench.fill() == [0], "a single request")
    // The length of 95 bytes distinguishes all words of up to 32 bytes; the server accepted
    // complete words of 8 bytes.
    #expect(bench.sent[0] == 4_096..<4_191)
    #expect(try bench.window.answered(0, requesting: 4_184) == .proceed)
    #expect(bench.window.unit == .known(8) && bench.window.acknowledged == 4_184)
    #expect(bench.window.width == 2)
    let numbers = bench.fill()
    #expect(numbers.compactMap { bench.sent[$0] } == [4_184..<4_280, 4_280..<4_376])
    try bench.answerWell(numbers)
    #expect(bench.fill().count == 3)
  }

  @Test("a server that accepts every byte is recognized by its first answer")
  func wholeTaken() throws {
    var bench = Bench(from: 4_096, unit: .unknown)
    try bench.answerWell(bench.fill())
    #expect(bench.window.unit == .known(1))
    #expect(bench.fill().compactMap { bench.sent[$0] } == [4_191..<4_291, 4_291..<4_391])
  }

  @Test("the end of an image is never cut, and does not determine the unit")
  func endOfImage() throws {
    var bench = Bench(total: 4_150, from: 4_096, unit: .unknown)
    #expect(bench.fill() == [0] && bench.sent[0] == 4_096..<4_150)
    try bench.answerWell([0])
    #expect(bench.window.isComplete && bench.window.unit == .unknown)
  }

  @Test("after a lost request and the later answers, the upload rewinds and halves the window")
  func loss() throws {
    var bench = Bench(from: 100)
    for _ in 0..<3 { try bench.answerWell(bench.fill()) }
    #expect(bench.fill() == [6, 7, 8])
    // Request 6 was lost; the server discards 7 and 8 and reports its offset.
    #expect(try bench.window.answered(7, requesting: 700) == .proceed)
    #expect(bench.fill().isEmpty)
    #expect(try bench.window.answered(8, requesting: 700) == .rewound(to: 700, because: .gap))
    #expect(bench.window.width == 1)
    #expect(bench.fill() == [9] && bench.sent[9] == 700..<800)
    // The window grows again, but only after twice as many successful answers.
    try bench.answerWell([9])
    #expect(bench.window.width == 1)
    try bench.answerWell(bench.fill())
    #expect(bench.window.width == 2)
  }

  @Test("the next answer compensates a lost answer")
  func lostAnswer() throws {
    var bench = Bench(from: 100)
    try bench.answerWell(bench.fill())
    #expect(bench.fill() == [1, 2])
    #expect(try bench.window.answered(2, requesting: 400) == .proceed)
    #expect(bench.window.acknowledged == 400)
    // The answer to request 1 is now late.
    #expect(try bench.window.answered(1, requesting: 300) == .proceed)
    #expect(bench.window.acknowledged == 400)
  }

  @Test("the answer to a repeat compensates two lost answers")
  func lostAnswers() throws {
    var bench = Bench(from: 100)
    try bench.answerWell(bench.fill())
    #expect(bench.fill() == [1, 2])
    #expect(try bench.window.timedOut(after: .seconds(5)) == .rewound(to: 200, because: .silence))
    #expect(bench.fill() == [3])
    #expect(try bench.window.answered(3, requesting: 400) == .proceed)
    #expect(bench.window.acknowledged == 400 && bench.window.next == 400)
  }

  @Test("after silence, a single request is sent, at most five times")
  func silence() throws {
    var bench = Bench(from: 100)
    for _ in 0..<2 { try bench.answerWell(bench.fill()) }
    #expect(bench.fill().count == 3)
    for attempt in 1...SMPTransfer.repeatMaximum {
      #expect(
        try bench.window.timedOut(after: .seconds(5)) == .rewound(to: 400, because: .silence))
      #expect(bench.window.silences == attempt)
      #expect(bench.fill().count == 1)
    }
    #expect(throws: UpdateFault.stalled(atOffset: 400, waited: .seconds(5))) {
      try bench.window.timedOut(after: .seconds(5))
    }
  }

  @Test("a server that requests the same byte indefinitely ends the upload")
  func noProgress() throws {
    var bench = Bench(from: 100)
    for _ in 0..<SMPTransfer.repeatMaximum {
      let number = try #require(bench.fill().first)
      #expect(
        try bench.window.answered(number, requesting: 100) == .rewound(to: 100, because: .gap))
    }
    let number = try #require(bench.fill().first)
    #expect(throws: UpdateFault.noProgress(atOffset: 100, repeats: 5)) {
      try bench.window.answered(number, requesting: 100)
    }
  }

  @Test("a server that lost all bytes receives them again from 0, but not indefinitely")
  func setbacks() throws {
    var bench = Bench(from: 100, width: 1)
    for _ in 0..<SMPTransfer.setbackMaximum {
      try bench.answerWell(bench.fill())
      let number = try #require(bench.fill().first)
      #expect(try bench.window.answered(number, requesting: 0) == .rewound(to: 0, because: .gap))
      let first = try #require(bench.fill().first)
      #expect(bench.sent[first]?.lowerBound == 0)
      try bench.answerWell([first])
    }
    let number = try #require(bench.fill().first)
    #expect(throws: UpdateFault.noProgress(atOffset: 0, repeats: 5)) {
      try bench.window.answered(number, requesting: 0)
    }
  }

  @Test("a busy server is not counted as a loss")
  func busy() throws {
    var bench = Bench(from: 100)
    for _ in 0..<20 {
      let number = try #require(bench.fill().first)
      #expect(
        try bench.window.refused(number, isBusy: true) == .rewound(to: 100, because: .overrun))
    }
    try bench.answerWell(bench.fill())
    #expect(bench.window.width == 2)
  }

  @Test("a server without memory receives fewer concurrent requests")
  func memory() throws {
    var bench = Bench(from: 100)
    for _ in 0..<2 { try bench.answerWell(bench.fill()) }
    let numbers = bench.fill()
    #expect(try bench.window.answered(numbers[0], requesting: 500) == .proceed)
    #expect(try bench.window.refused(numbers[1], isBusy: false) == .proceed)
    #expect(
      try bench.window.answered(numbers[2], requesting: 500) == .rewound(to: 500, because: .gap))
    #expect(bench.window.width == 1)
  }

  @Test("an offset after the sent bytes violates the protocol")
  func beyond() throws {
    var bench = Bench(from: 100)
    _ = bench.fill()
    #expect(throws: UpdateFault.self) { try bench.window.answered(0, requesting: 201) }
    var first = Bench()
    _ = first.fill()
    #expect(throws: UpdateFault.self) { try first.window.answered(0, requesting: 10_001) }
  }

  @Test(
    "an upload with losses of every kind ends, with every byte in order",
    arguments: 1...200 as ClosedRange<UInt64>)
  func property(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let total = Int.random(in: 200...8_000, using: &random)
    let width = Int.random(in: 1...6, using: &random)
    var bench = Bench(total: total, width: width)
    var server = 0
    var pending: [(UInt8, Int)] = []
    var steps = 0
    while !bench.window.isComplete {
      steps += 1
      try #require(steps < 5_000, "seed \(seed)")
      for number in bench.fill() {
        // One request in twenty is lost, and the server discards unexpected requests.
        if Int.random(in: 0..<20, using: &random) == 0 { continue }
        let range = try #require(bench.sent[number])
        if range.lowerBound == server { server = range.upperBound }
        pending.append((number, server))
      }
      #expect(bench.window.width <= width)
      if pending.isEmpty {
        if bench.window.isWaiting { _ = try bench.window.timedOut(after: .seconds(5)) }
        continue
      }
      let (number, offset) = pending.removeFirst()
      // One answer in fifty is lost.
      if Int.random(in: 0..<50, using: &random) != 0 {
        _ = try bench.window.answered(number, requesting: offset)
      }
    }
    #expect(server == total)
  }
}
