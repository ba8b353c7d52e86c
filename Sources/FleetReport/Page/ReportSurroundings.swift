import OtaflashFleet

/// What a page says beside what the events tell.
package struct ReportSurroundings: Sendable {
  /// What proves the events complete.
  package struct Chain: Hashable, Sendable {
    package let events: Int
    /// The hash of the last.
    package let head: [UInt8]

    package init(events: Int, head: [UInt8]) {
      self.events = events
      self.head = head
    }
  }

  /// What the air allows.
  package struct AirLimit: Hashable, Sendable {
    /// Bytes of image per second that one adapter can send at best.
    package let bytesPerSecond: Double
    /// Of which links: a clause, such as `2M, 15 ms, with response`.
    package let words: String

    package init(bytesPerSecond: Double, words: String) {
      self.bytesPerSecond = bytesPerSecond
      self.words = words
    }
  }

  /// Who wrote it, such as `otaflash 1.4.0`.
  package var program: String
  package var written: WallClockTime
  /// Whose clock times are shown by, and what people call it.
  package var zone = ZoneOffsets.utc
  package var zoneName = "UTC"
  package var chain: Chain?
  /// What to type to have the chain looked at again.
  package var verification: String?
  package var air: AirLimit?

  package init(program: String, written: WallClockTime) {
    self.program = program
    self.written = written
  }
}
