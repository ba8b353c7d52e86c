import OtaflashATT
import OtaflashGATT

/// The expected time of a transfer on a link without losses. Devices end a transfer after a time
/// limit, so a transfer that would exceed the limit must not start.
struct TelinkForecast: Sendable {
  /// The time of START, the last confirmation, END and the result, in connection intervals.
  private static let edgeIntervals = 4.0
  /// The number of connection events for a request and its response: the device responds in the
  /// event after the event of the request.
  private static let eventsPerAnswer = 2.0

  let facts: LinkFacts
  let isEncrypted: Bool
  /// The time between two connection events.
  private let interval: Duration

  /// - Parameter interval: the time between two connection events; a shorter time than any link can
  ///   have, as on a socket, counts as 0.1 ms.
  init(facts: LinkFacts, isEncrypted: Bool = false, interval: Duration) {
    (self.facts, self.isEncrypted) = (facts, isEncrypted)
    self.interval = max(interval, .microseconds(100))
  }

  /// Returns the time from START to END.
  ///
  /// - Parameter window: the window at the start of the transfer.
  func time(of window: TelinkWindow) -> Duration {
    let flash = TelinkOTA.flashTimePerUnit * (window.pduLength / TelinkOTA.unit)
    let perPDU = max(flash / .seconds(1), secondsPerPDU(window))
    let edges = interval / .seconds(1) * Self.edgeIntervals
    return .milliseconds(Int((Double(window.count) * perPDU + edges) * 1000))
  }

  private func secondsPerPDU(_ window: TelinkWindow) -> Double {
    let interval = interval / .seconds(1)
    let perEvent = pdusPerEvent(window.pduLength)
    let stretch = Double(window.stretchMaximum)
    if window.isStopAndWait {
      let events = (stretch / perEvent).rounded(.up) + Self.eventsPerAnswer - 1
      return events * interval / stretch
    }
    // A stretch that does not fill an event waits for its confirmation in the next event.
    return interval * max(1 / perEvent, perEvent > stretch ? Self.eventsPerAnswer / stretch : 0)
  }

  /// The number of PDUs in a connection event; less than 1 if the event is too short for a PDU.
  private func pdusPerEvent(_ pduLength: Int) -> Double {
    let size = pduLength + TelinkOTA.attOverhead
    let microseconds = Int(interval / .microseconds(1))
    let sizing = PDUSizing(facts, isEncrypted: isEncrypted)
    let rate = sizing.eventPackedRate(size: size, intervalMicroseconds: microseconds)
    guard rate > 0 else {
      // The interval is unknown and shorter than any event, as on a socket.
      return interval / .microseconds(sizing.airTimeMicroseconds(size: size))
    }
    return rate / Double(size) * (interval / .seconds(1))
  }
}
