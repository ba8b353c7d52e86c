import OtaflashATT
import OtaflashGATT

/// The advertisements of simulated devices that pass the filter. The sequence ends only when the
/// task is cancelled, with `ScanFault.cancelled`.
public struct SimulatedAdvertisements: AsyncSequence, Sendable {
  public typealias Element = Advertisement
  public typealias Failure = ScanFault

  /// The maximum random delay of each advertisement, so that the advertisements of devices with the
  /// same interval do not stay synchronized (advDelay; Core 5.4, Vol 6, Part B, 4.4.2.2.1).
  private static let delayMaximumMicroseconds: UInt64 = 10_000
  /// The length of one wait if no device is left to report; a cancellation ends the wait.
  private static let silence: Duration = .seconds(60)

  let peripherals: [SimulatedPeripheral]
  let filter: AdvertisementFilter
  let eachOnce: Bool
  let clock: any LinkClock
  let random: SeededRandom

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  public struct AsyncIterator: AsyncIteratorProtocol {
    private let filter: AdvertisementFilter
    private let eachOnce: Bool
    private let clock: any LinkClock
    private var random: SeededRandom
    /// The devices to report, with the time of their next advertisement.
    private var coming: [(peripheral: SimulatedPeripheral, at: LinkInstant)] = []

    fileprivate init(_ sequence: SimulatedAdvertisements) {
      filter = sequence.filter
      eachOnce = sequence.eachOnce
      clock = sequence.clock
      random = sequence.random
      let now = clock.now
      coming = sequence.peripherals.map { peripheral in
        let phase = Double.random(in: 0..<1, using: &random)
        return (peripheral, now.advanced(by: peripheral.advertisingInterval * phase))
      }
    }

    public mutating func next() async throws(ScanFault) -> Advertisement? {
      try await next(isolation: nil)
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ScanFault) -> Advertisement? {
      while true {
        guard let soonest = coming.indices.min(by: { coming[$0].at < coming[$1].at }) else {
          guard await clock.pause(for: SimulatedAdvertisements.silence) else { throw .cancelled }
          continue
        }
        guard await clock.pause(until: coming[soonest].at) else { throw .cancelled }
        let peripheral = coming[soonest].peripheral
        if peripheral.isHeard, filter.accepts(peripheral.advertisement) {
          if eachOnce {
            coming.remove(at: soonest)
          } else {
            coming[soonest].at = moment(after: coming[soonest].at, of: peripheral)
          }
          return peripheral.advertisement
        }
        coming[soonest].at = moment(after: coming[soonest].at, of: peripheral)
      }
    }

    private mutating func moment(
      after moment: LinkInstant, of peripheral: SimulatedPeripheral
    ) -> LinkInstant {
      let delay = random.next() % SimulatedAdvertisements.delayMaximumMicroseconds
      return moment.advanced(by: peripheral.advertisingInterval + .microseconds(Int64(delay)))
    }
  }
}
