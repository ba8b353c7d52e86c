import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of the order of writes, without a device.
@Suite struct SilabsTransferTests {
  @Test(
    arguments: [
      (23, nil, 20), (247, nil, 244), (517, nil, 244), (247, 100, 100), (247, 3, 4),
      (100, nil, 96), (247, 1000, 244),
    ] as [(Int, Int?, Int)])
  func dataWritesAreMultiplesOfFour(_ mtu: Int, _ wanted: Int?, _ chunk: Int) {
    #expect(SilabsOTA.chunk(mtu: mtu, wanted: wanted) == chunk)
  }

  @Test func theFirstWritesAreAcknowledged() {
    var transfer = SilabsTransfer(total: 1000, chunk: 100, pace: .alternating)
    #expect(transfer.step == .request(0..<100))
    transfer.sent(0..<100, isRequest: true)
    #expect(transfer.step == .wait)
    transfer.answered()
    #expect(transfer.acknowledged == 100)
    for start in stride(from: 100, to: 800, by: 100) {
      #expect(transfer.step == .command(start..<start + 100))
      transfer.sent(start..<start + 100, isRequest: false)
    }
    #expect(transfer.step == .request(800..<900))
    transfer.sent(800..<900, isRequest: true)
    #expect(transfer.step == .wait)
    transfer.answered()
    #expect(transfer.step == .request(900..<1000))
    transfer.sent(900..<1000, isRequest: true)
    #expect(transfer.step == .wait)
    transfer.answered()
    #expect(transfer.step == .complete && transfer.acknowledged == 1000)
  }

  /// The caller's limit reduces the window.
  @Test(arguments: 1...30)
  func theWindowHasALimit(_ limit: Int) {
    for failures in 0...3 {
      let pace = SilabsPace.after(failures: failures, limit: limit)
      #expect(pace.window <= limit && pace.interval <= pace.window && pace.start <= pace.window)
    }
    #expect(SilabsPace.after(failures: 2, limit: limit).isLossless)
  }

  /// With any order of responses, all bytes are sent once, the window is never exceeded, and every
  /// write is acknowledged at the end.
  @Test(arguments: 0..<300)
  func everyTransferEnds(_ seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let total = Int.random(in: 1...30_000, using: &random)
    let chunk = 4 * Int.random(in: 1...61, using: &random)
    let pace = SilabsPace.after(
      failures: Int.random(in: 0...2, using: &random),
      limit: Int.random(in: 1...40, using: &random))
    var transfer = SilabsTransfer(total: total, chunk: chunk, pace: pace)
    var sent = 0
    var unacknowledged = 0
    var sinceRequest = 0
    var open: Int?
    var steps = 0
    while transfer.step != .complete {
      steps += 1
      try #require(steps < 100_000, "it does not end")
      let answers = open != nil && (transfer.step == .wait || Bool.random(using: &random))
      if answers, let covered = open {
        open = nil
        unacknowledged -= covered
        transfer.answered()
        continue
      }
      switch transfer.step {
      case .command(let range), .request(let range):
        #expect(range.lowerBound == sent)
        sent = range.upperBound
        unacknowledged += 1
        sinceRequest += 1
        #expect(unacknowledged <= max(pace.window, 1) + 1)
        if case .request = transfer.step {
          #expect(open == nil)
          transfer.sent(range, isRequest: true)
          (open, sinceRequest) = (unacknowledged, 0)
        } else {
          transfer.sent(range, isRequest: false)
          #expect(sinceRequest < pace.spacing)
        }
      case .wait: try #require(open != nil, "it waits for nothing")
      case .complete: break
      }
    }
    #expect(sent == total && transfer.acknowledged == total && unacknowledged == 0)
  }
}
