import OtaflashATT
import OtaflashSimulation
import Testing

@Suite struct RadioModelTests {
  @Test(arguments: [
    (PHY.le1M, 0, false, 80), (.le1M, 27, false, 296), (.le1M, 27, true, 328),
    (.le1M, 251, false, 2088), (.le1M, 251, true, 2120), (.le1M, 0, true, 80),
    (.le2M, 0, false, 44), (.le2M, 27, false, 152), (.le2M, 27, true, 168),
    (.le2M, 251, false, 1048), (.le2M, 251, true, 1064), (.le2M, 0, true, 44),
    (.codedS8, 0, false, 720), (.codedS8, 251, true, 17_040),
    (.codedS2, 0, false, 462), (.codedS2, 251, true, 4_542),
  ])
  func airTimeMatchesTheSpecification(
    phy: PHY, payload: Int, encrypted: Bool, microseconds: Int
  ) {
    #expect(phy.airTimeMicroseconds(payload: payload, encrypted: encrypted) == microseconds)
  }

  @Test(arguments: [
    (PHY.le1M, 27, false, 676), (.le1M, 27, true, 708), (.le1M, 251, false, 2468),
    (.le1M, 251, true, 2500), (.le2M, 27, false, 496), (.le2M, 27, true, 512),
    (.le2M, 251, false, 1392), (.le2M, 251, true, 1408),
  ])
  func aPairTakesBothPacketsAndBothGaps(
    phy: PHY, payload: Int, encrypted: Bool, microseconds: Int
  ) {
    var model = RadioModel()
    model.phy = phy
    model.isEncrypted = encrypted
    #expect(
      model.pairMicroseconds(central: payload, peripheral: 0) + PHY.interframeSpaceMicroseconds
        == microseconds)
  }

  @Test func pdusAreCutWithTheirL2CAPHeader() {
    var model = RadioModel()
    #expect(model.fragments(ofPDU: 247) == [251])
    #expect(model.fragments(ofPDU: 498) == [251, 251])
    #expect(model.fragments(ofPDU: 517) == [251, 251, 19])
    model.payloadMaximum = 27
    #expect(model.fragments(ofPDU: 23) == [27])
    #expect(model.fragments(ofPDU: 0) == [4])
  }

  struct Row: CustomTestStringConvertible, Sendable {
    let phy: PHY
    let payload: Int
    let mtu: Int
    let continuous: Double
    let encrypted: Double
    /// The values are for 7.5, 11.25, 15, 30, 50 and 100 ms, in kB/s.
    let packed: [Double]

    var testDescription: String { "\(phy.rawValue), \(payload), \(mtu)" }
  }

  static let table: [Row] = [
    Row(
      phy: .le1M, payload: 27, mtu: 23, continuous: 29.6, encrypted: 28.2,
      packed: [29.3, 28.4, 29.3, 29.3, 29.2, 29.4]),
    Row(
      phy: .le1M, payload: 27, mtu: 247, continuous: 36.9, encrypted: 35.2,
      packed: [35.8, 36.1, 35.8, 36.6, 36.6, 36.8]),
    Row(
      phy: .le1M, payload: 251, mtu: 185, continuous: 92.3, encrypted: 90.8,
      packed: [72.8, 80.9, 84.9, 91.0, 91.0, 91.0]),
    Row(
      phy: .le1M, payload: 251, mtu: 247, continuous: 98.9, encrypted: 97.6,
      packed: [97.6, 86.8, 97.6, 97.6, 97.6, 97.6]),
    Row(
      phy: .le1M, payload: 251, mtu: 498, continuous: 100.3, encrypted: 99.0,
      packed: [99.0, 88.0, 99.0, 99.0, 99.0, 99.0]),
    Row(
      phy: .le1M, payload: 251, mtu: 517, continuous: 92.6, encrypted: 91.1,
      packed: [68.5, 91.4, 85.7, 85.7, 92.5, 92.5]),
    Row(
      phy: .le2M, payload: 27, mtu: 23, continuous: 40.3, encrypted: 39.1,
      packed: [40.0, 39.1, 40.0, 40.0, 40.0, 40.2]),
    Row(
      phy: .le2M, payload: 251, mtu: 247, continuous: 175.3, encrypted: 173.3,
      packed: [162.7, 173.5, 162.7, 170.8, 170.8, 173.2]),
    Row(
      phy: .le2M, payload: 251, mtu: 498, continuous: 177.8, encrypted: 175.8,
      packed: [165.0, 176.0, 165.0, 173.2, 173.2, 175.7]),
    Row(
      phy: .le2M, payload: 251, mtu: 517, continuous: 158.3, encrypted: 155.9,
      packed: [137.1, 152.3, 154.2, 154.2, 154.2, 156.8]),
    Row(
      phy: .codedS2, payload: 251, mtu: 247, continuous: 46.6, encrypted: 46.0,
      packed: [32.5, 43.4, 32.5, 40.7, 43.9, 46.4]),
    Row(
      phy: .codedS8, payload: 251, mtu: 247, continuous: 13.7, encrypted: 13.5,
      packed: [0, 0, 0, 8.1, 9.8, 12.2]),
  ]

  @Test(arguments: table)
  func limitsMatchTheReference(row: Row) throws {
    var model = RadioModel()
    model.phy = row.phy
    model.payloadMaximum = row.payload
    #expect(within1Percent(model.continuousLimit(mtu: row.mtu), row.continuous))
    for (microseconds, expected) in zip(
      [7500, 11_250, 15_000, 30_000, 50_000, 100_000], row.packed)
    {
      model.interval = try #require(ConnectionInterval(microseconds: microseconds))
      #expect(within1Percent(model.eventPackedLimit(mtu: row.mtu), expected))
    }
    model.isEncrypted = true
    #expect(within1Percent(model.continuousLimit(mtu: row.mtu), row.encrypted))
  }

  private func within1Percent(_ bytesPerSecond: Double, _ kilobytesPerSecond: Double) -> Bool {
    abs(bytesPerSecond / 1000 - kilobytesPerSecond) <= kilobytesPerSecond / 100
  }

  @Test(arguments: [
    (7_500, 23, 1.333), (15_000, 23, 0.667), (7_500, 247, 16.267), (30_000, 247, 4.067),
    (50_000, 517, 5.14),
  ])
  func aWriteRequestTakesTwoEvents(microseconds: Int, mtu: Int, kilobytes: Double) throws {
    var model = RadioModel()
    model.interval = try #require(ConnectionInterval(microseconds: microseconds))
    #expect(within1Percent(model.writeRequestLimit(mtu: mtu), kilobytes))
    model.responseEvent = .same
    #expect(within1Percent(model.writeRequestLimit(mtu: mtu), 2 * kilobytes))
  }

  @Test func fourControllerBuffersReachTheRateOfLinux() {
    var model = RadioModel()
    model.interval = .milliseconds50
    model.controllerBuffers = 4
    #expect(within1Percent(model.eventPackedLimit(mtu: 247), 19.52))
  }

  @Test func aModelWhosePacketsDoNotFitIsRefused() {
    var model = RadioModel()
    model.phy = .codedS8
    #expect(throws: RadioModelFault.self) { try model.validate() }
    model.payloadMaximum = 27
    #expect(throws: Never.self) { try model.validate() }
  }

  @Test(arguments: [
    (7_500, true), (7_499, false), (7_501, false), (4_000_000, true), (4_001_250, false),
  ])
  func intervalsAreMultiplesOfTheUnit(microseconds: Int, legal: Bool) {
    #expect((ConnectionInterval(microseconds: microseconds) != nil) == legal)
  }
}

/// Tests of the write sizes of the host, compared with the limits of the radio model.
@Suite struct EventSizingTests {
  private static let intervals = [7500, 15_000, 30_000, 50_000]

  private static func models() throws -> [RadioModel] {
    try [PHY.le1M, .le2M].flatMap { phy in
      try intervals.flatMap { interval in
        try [27, 251].flatMap { payload in
          try [(false, nil), (true, nil), (false, 2), (true, 3)].map { isEncrypted, buffers in
            var model = RadioModel()
            model.phy = phy
            model.interval = try #require(ConnectionInterval(microseconds: interval))
            model.payloadMaximum = payload
            model.isEncrypted = isEncrypted
            model.controllerBuffers = buffers
            return model
          }
        }
      }
    }
  }

  @Test func planAndModelCountTheSamePacketsInAnEvent() throws {
    for model in try Self.models() {
      let sizing = sizing(of: model)
      for size in stride(from: 23, through: 517, by: 7) {
        let values = Double(size - 3) / Double(size)
        let expected = model.eventPackedLimit(mtu: size)
        let found =
          sizing.eventPackedRate(
            size: size, intervalMicroseconds: model.interval.microseconds) * values
        #expect(abs(found - expected) < 0.001 * expected, "\(size) \(model)")
      }
    }
  }

  /// No other size within the MTU has a higher limit.
  @Test(arguments: [23, 185, 247, 498, 517])
  func theBestSizeHasTheHighestLimit(_ mtu: Int) throws {
    for model in try Self.models() {
      let best = sizing(of: model).bestSize(
        mtu: ATTMTU(clamping: mtu), interval: model.interval.duration)
      let highest = (20...mtu).map { model.eventPackedLimit(mtu: $0) }.max() ?? 0
      #expect(best <= mtu && model.eventPackedLimit(mtu: best) > highest * 0.999_999, "\(model)")
    }
  }

  private func sizing(of model: RadioModel) -> PDUSizing {
    PDUSizing(
      linkLayerPayload: model.payloadMaximum, phy: model.phy, isEncrypted: model.isEncrypted,
      packetsPerEvent: model.controllerBuffers)
  }
}
