import OtaflashFleet

/// Facts on a page that are not in the events.
package struct ReportSurroundings: Sendable {
  /// The evidence that the events are complete.
  package struct Chain: Hashable, Sendable {
    package let events: Int
    /// The hash of the last event.
    package let head: [UInt8]

    package init(events: Int, head: [UInt8]) {
      self.events = events
      self.head = head
    }
  }

  /// The air limit.
  package struct AirLimit: Hashable, Sendable {
    /// The maximum number of image bytes per second over one adapter.
    package let bytesPerSecond: Double
    /// The link parameters, such as `2M, 15 ms, with response`.
    package let words: String

    package init(bytesPerSecond: Double, words: String) {
      self.bytesPerSecond = bytesPerSecond
      self.words = words
    }
  }

  /// The program that creates the report, such as `otaflash 1.4.0`.
  package var program: String
  package var written: WallClockTime
  /// The time zone of displayed times; `zoneName` is its name.
  package var zone = ZoneOffsets.utc
  package var zoneName = "UTC"
  package var chain: Chain?
  /// The command that verifies the chain.
  package var verification: String?
  package var air: AirLimit?

  package init(program: String, written: WallClockTime) {
    self.program = program
    self.written = written
  }
}
