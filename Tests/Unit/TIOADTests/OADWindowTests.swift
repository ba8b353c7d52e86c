import Testing

@testable import OtaflashUpdate

/// Tests of the arithmetic of a transfer.
@Suite struct OADWindowTests {
  /// Sends all permitted blocks; returns their numbers.
  private static func send(_ window: inout OADWindow) -> [Int] {
    var numbers: [Int] = []
    while let range = window.sendable {
      numbers.append(range.lowerBound / window.blockBytes)
      window.didSend()
    }
    return numbers
  }

  @Test func theHeaderIsSentOneBlockAtATime() {
    var window = OADWindow(total: 1000, blockBytes: 16, headerSize: 56)
    #expect(window.headerBlocks == 4)
    for block in 0..<4 {
      #expect(Self.send(&window) == [block] && window.isBeforeData)
      let isValid = window.requested(block + 1)
      #expect(isValid)
    }
    #expect(!window.isBeforeData && Self.send(&window) == [4, 5])
  }

  @Test func theWindowGrowsWithEachRequest() {
    var window = OADWindow(total: 100_000, blockBytes: 240, headerSize: 0)
    var sizes: [Int] = []
    for _ in 0..<20 {
      _ = Self.send(&window)
      sizes.append(window.sent - window.confirmed)
      _ = window.requested(window.confirmed + 1)
    }
    #expect(sizes == Array(2...16) + [16, 16, 16, 16, 16])
  }

  @Test func lossesAndTheCallersLimitReduceTheWindow() {
    func limit(_ losses: Int, _ maximum: Int? = nil) -> Int {
      OADWindow(
        total: 1000, blockBytes: 100, headerSize: 56, losses: losses, maximum: maximum
      ).limit
    }
    #expect((0...5).map { limit($0) } == [16, 4, 2, 1, 1, 1])
    #expect(limit(0, 350) == 3 && limit(0, 1) == 1)
  }

  /// A request confirms all blocks before it, so lost requests do not matter.
  @Test func requestsAreCumulative() {
    var window = OADWindow(total: 1000, blockBytes: 100, headerSize: 0)
    #expect(Self.send(&window) == [0, 1])
    let isValid = window.requested(2)
    #expect(isValid && window.confirmed == 2 && window.confirmedBytes == 200)
    let isOld = window.requested(1)
    #expect(isOld && window.confirmed == 2)
  }

  @Test func moreThanTheSentBlocksCannotBeRequested() {
    var window = OADWindow(total: 1000, blockBytes: 100, headerSize: 0)
    _ = Self.send(&window)
    let isValid = window.requested(3)
    #expect(!isValid && window.confirmed == 0)
    let isComplete = window.completed()
    #expect(!isComplete && !window.isComplete)
  }

  /// Without requests, up to three more blocks are sent, one at a time.
  @Test func silenceIsProbedWithinABound() {
    var window = OADWindow(total: 1000, blockBytes: 100, headerSize: 0)
    _ = Self.send(&window)
    for block in 2...4 {
      window.probe()
      #expect(Self.send(&window) == [block])
    }
    window.probe()
    #expect(Self.send(&window) == [])
    _ = window.requested(5)
    #expect(window.sent - window.confirmed == 0)
  }

  @Test(arguments: [1, 99, 100, 101, 999, 1000, 1001])
  func everySizeEndsWithItsRest(_ total: Int) {
    var window = OADWindow(total: total, blockBytes: 100, headerSize: 56)
    var bytes = 0
    while let range = window.sendable {
      bytes += range.count
      window.didSend()
      if !window.isAllSent { _ = window.requested(window.sent) }
    }
    #expect(bytes == total && window.isAllSent)
    let isComplete = window.completed()
    #expect(isComplete && window.confirmedBytes == total)
  }
}
