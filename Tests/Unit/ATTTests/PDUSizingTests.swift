import OtaflashATT
import Testing

@Suite struct PDUSizingTests {
  /// The best size fills packets completely, or is the complete MTU if a partly full last packet
  /// yields a higher rate.
  @Test(arguments: [
    (251, 517, 498), (251, 498, 498), (251, 497, 497), (251, 247, 247), (251, 250, 247),
    (251, 185, 185), (251, 23, 23), (27, 23, 23), (27, 24, 23),
  ])
  func bestSize(_ payload: Int, _ mtu: Int, _ expected: Int) {
    for phy in [PHY.le1M, .le2M] {
      let sizing = PDUSizing(linkLayerPayload: payload, phy: phy)
      #expect(sizing.bestSize(mtu: ATTMTU(clamping: mtu)) == expected)
    }
  }

  @Test func noSizeWithinTheMTUIsFaster() {
    for phy in PHY.allCases {
      for payload in [27, 48, 100, 251] {
        for isEncrypted in [false, true] {
          let sizing = PDUSizing(
            linkLayerPayload: payload, phy: phy, isEncrypted: isEncrypted)
          for mtu in stride(from: 23, through: 517, by: 13) {
            let best = sizing.bestSize(mtu: ATTMTU(clamping: mtu))
            let fastest = (4...mtu).map { rate(sizing, $0) }.max()
            #expect(best <= mtu)
            #expect(rate(sizing, best) == fastest)
          }
        }
      }
    }
  }

  // MARK: Connection events

  /// The result must be the best of all sizes, calculated by the same arithmetic.
  @Test func noSizeWithinTheMTUUsesEventsBetter() {
    for phy in [PHY.le1M, .le2M, .codedS2] {
      for payload in [27, 100, 251] {
        let sizing = PDUSizing(linkLayerPayload: payload, phy: phy)
        for interval in [7500, 8750, 15_000, 30_000, 50_000, 400_000] {
          for mtu in [23, 64, 185, 247, 498, 517] {
            let best = sizing.bestSize(
              mtu: ATTMTU(clamping: mtu), interval: .microseconds(interval))
            let fastest = (4...mtu).map { valueRate(sizing, $0, interval) }.max() ?? 0
            #expect(best <= mtu)
            #expect(valueRate(sizing, best, interval) > fastest * 0.999_999)
          }
        }
      }
    }
  }

  private func valueRate(_ sizing: PDUSizing, _ size: Int, _ interval: Int) -> Double {
    sizing.eventPackedRate(size: size, intervalMicroseconds: interval) * Double(size - 3)
      / Double(size)
  }

  @Test(arguments: [(15_000, 247, 239), (15_000, 498, 482), (7500, 498, 427), (50_000, 498, 496)])
  func bestSizeInEventsAt2M(_ interval: Int, _ mtu: Int, _ expected: Int) {
    let sizing = PDUSizing(phy: .le2M)
    #expect(
      sizing.bestSize(mtu: ATTMTU(clamping: mtu), interval: .microseconds(interval)) == expected)
  }

  /// For values of complete words, no other size may use events better.
  @Test(arguments: [7500, 15_000, 30_000])
  func completeWordsUseEventsAsWellAsPossible(_ interval: Int) {
    for phy in [PHY.le1M, .le2M] {
      let sizing = PDUSizing(phy: phy)
      for mtu in [23, 185, 247, 498, 517] {
        let best = sizing.bestSize(
          mtu: ATTMTU(clamping: mtu), interval: .microseconds(interval), unit: 4)
        let fastest = stride(from: 7, through: mtu, by: 4)
          .map { valueRate(sizing, $0, interval) }.max()
        #expect((best - 3).isMultiple(of: 4) && best <= mtu)
        #expect(valueRate(sizing, best, interval) == fastest, "\(phy) \(interval) \(mtu)")
      }
    }
  }

  /// A device that notifies in every event displaces a packet that would otherwise just fit.
  @Test func frequentNotificationsReduceTheSize() {
    let sizing = PDUSizing(phy: .le2M)
    let often = sizing.bestSize(
      mtu: ATTMTU(clamping: 498), interval: .milliseconds(15),
      answers: [StreamAnswer(every: 2048, pdu: 19)])
    let answer = 23 * 4
    func rate(_ size: Int) -> Double {
      sizing.eventPackedRate(
        size: size, intervalMicroseconds: 15_000, takenMicroseconds: answer)
    }
    #expect(often < 482 && rate(often) > 1.05 * rate(482))
  }

  /// Two answers in an event take twice the time of one answer, as for a device with a receive
  /// buffer of 4 KiB.
  @Test func everyAnswerInAnEventCounts() {
    let best = PDUSizing(phy: .le2M).bestSize(
      mtu: ATTMTU(clamping: 247), interval: .milliseconds(15), header: 4,
      answers: [StreamAnswer(every: 1024, pdu: 19), StreamAnswer(every: 4096, pdu: 1)])
    #expect(best == 233)
  }

  /// A controller that holds few packets sends complete packets.
  @Test(arguments: [(2, 247, 247), (4, 247, 247), (4, 512, 498), (3, 512, 498)])
  func fewPacketsInAnEventAreWhole(_ packets: Int, _ mtu: Int, _ expected: Int) {
    let sizing = PDUSizing(phy: .le2M, packetsPerEvent: packets)
    let best = sizing.bestSize(
      mtu: ATTMTU(clamping: mtu), interval: .milliseconds(15), header: 4)
    #expect(best == expected)
  }

  @Test func anUnknownOrTooShortIntervalHasNoEffect() {
    let sizing = PDUSizing(phy: .codedS8)
    #expect(sizing.bestSize(mtu: .maximum, interval: nil) == sizing.bestSize(mtu: .maximum))
    let short = Duration.microseconds(7500)
    #expect(PDUSizing(phy: .codedS8).bestSize(mtu: .maximum, interval: short) <= 517)
  }

  private func rate(_ sizing: PDUSizing, _ size: Int) -> Double {
    Double(size - 3) / Double(sizing.airTimeMicroseconds(size: size))
  }

  /// The air time of a PDU in microseconds, by the arithmetic of the Core Specification.
  @Test func airTime() {
    #expect(PDUSizing(linkLayerPayload: 27).airTimeMicroseconds(size: 23) == 676)
    #expect(
      PDUSizing(linkLayerPayload: 27, isEncrypted: true).airTimeMicroseconds(size: 23) == 708)
    #expect(PDUSizing().airTimeMicroseconds(size: 247) == 2468)
    #expect(PDUSizing(isEncrypted: true).airTimeMicroseconds(size: 247) == 2500)
    #expect(PDUSizing(phy: .le2M).airTimeMicroseconds(size: 247) == 1392)
    #expect(PDUSizing(phy: .le2M, isEncrypted: true).airTimeMicroseconds(size: 247) == 1408)
    #expect(PDUSizing().airTimeMicroseconds(size: 498) == 2 * 2468)
  }

  /// The value bytes per second on a continuous link, in units of 100 bytes.
  @Test(arguments: [
    (PHY.le1M, 27, 23, 296), (.le1M, 27, 247, 369), (.le1M, 251, 185, 923),
    (.le1M, 251, 247, 989), (.le1M, 251, 498, 1003), (.le1M, 251, 517, 926), (.le2M, 27, 23, 403),
    (.le2M, 251, 247, 1753), (.le2M, 251, 498, 1778), (.le2M, 251, 517, 1583),
    (.codedS2, 251, 247, 466), (.codedS8, 251, 247, 137),
  ])
  func throughput(_ phy: PHY, _ payload: Int, _ size: Int, _ hundreds: Int) {
    let sizing = PDUSizing(linkLayerPayload: payload, phy: phy)
    #expect(Int((rate(sizing, size) * 10_000).rounded()) == hundreds)
  }
}
