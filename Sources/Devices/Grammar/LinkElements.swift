import OtaflashATT
import OtaflashConsole
import OtaflashSimulation

extension PHY: ListElement {
  package static let expected = "a PHY; the PHYs are 1M, 2M, coded, S2 and S8"
  package init?(listText: String) { self.init(caseInsensitive: listText) }
  package var listText: String { rawValue }
}

extension ConnectionInterval: ListElement {
  package static let expected = "an interval from 7.5ms to 4s in steps of 1.25 ms"

  package init?(listText: String) {
    guard let span = TimeSpan(listText) else { return nil }
    let (seconds, attoseconds) = span.duration.components
    self.init(microseconds: Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000))
  }

  package var listText: String { Text.decimal(Double(microseconds) / 1000) + "ms" }
}
