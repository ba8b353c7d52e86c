/// What decides how long an image takes: the link, the device's flash, and how often it resets.
package struct DeliveryConditions: Equatable, Sendable {
  /// Bytes of data that the link carries in a second.
  package var bytesPerSecond: Double
  /// Bytes of flash that are erased at a time.
  package var pageSize: Int
  package var eraseSeconds: Double
  /// To write a page.
  package var writeSeconds: Double
  /// Pages are erased before the data comes, so that erasing takes no time of the transfer's.
  package var isErasedAhead: Bool
  /// Bytes that the device holds while its flash is at work.
  package var receiveBuffer: Int
  /// The mean time between two resets of the device in the middle of a transfer. Each of them has
  /// half a part sent again.
  package var secondsBetweenResets: Double

  package init(
    bytesPerSecond: Double, pageSize: Int = 4096, eraseSeconds: Double = 0.085,
    writeSeconds: Double = 0.04, isErasedAhead: Bool = false, receiveBuffer: Int = 4096,
    secondsBetweenResets: Double = 600
  ) {
    precondition(bytesPerSecond > 0 && pageSize > 0 && secondsBetweenResets > 0)
    self.bytesPerSecond = bytesPerSecond
    self.pageSize = pageSize
    self.eraseSeconds = eraseSeconds
    self.writeSeconds = writeSeconds
    self.isErasedAhead = isErasedAhead
    self.receiveBuffer = receiveBuffer
    self.secondsBetweenResets = secondsBetweenResets
  }

  private var secondsPerPage: Double { writeSeconds + (isErasedAhead ? 0 : eraseSeconds) }

  /// How long a stream takes of which each page of image needs so many bytes, counted from the
  /// stream's beginning. `partEnds`: after how many pages parts end.
  package func forecast(bytesAtPages: [Int], partEnds: [Int]) -> DeliveryForecast {
    let writtenAt = writingTimes(bytesAtPages)
    var loss = 0.0
    var start = 0.0
    for end in partEnds where end > 0 && end <= writtenAt.count {
      let part = writtenAt[end - 1] - start
      loss += part * part / (2 * secondsBetweenResets)
      start = writtenAt[end - 1]
    }
    return DeliveryForecast(
      seconds: writtenAt.last ?? 0,
      airSeconds: Double(bytesAtPages.last ?? 0) / bytesPerSecond,
      flashSeconds: secondsPerPage * Double(bytesAtPages.count), resetSeconds: loss)
  }

  /// When each page is written: once its bytes are there and the page before is written. Bytes
  /// are sent only while the buffer has room for them.
  private func writingTimes(_ bytesAtPages: [Int]) -> [Double] {
    var writtenAt: [Double] = []
    var sentAt = 0.0
    var sent = 0
    // How many pages must be written before the last bytes of this one find room.
    var before = 0
    for bytes in bytesAtPages {
      while before < writtenAt.count, bytesAtPages[before] + receiveBuffer < bytes { before += 1 }
      sentAt += Double(bytes - sent) / bytesPerSecond
      if before > 0 {
        let waiting = bytes - bytesAtPages[before - 1] - receiveBuffer
        sentAt = max(sentAt, writtenAt[before - 1] + Double(waiting) / bytesPerSecond)
      }
      sent = bytes
      writtenAt.append(max(sentAt, writtenAt.last ?? 0) + secondsPerPage)
    }
    return writtenAt
  }
}

/// How long a transfer is expected to take, and what holds it back.
package struct DeliveryForecast: Equatable, Sendable {
  /// From the first byte sent to the last one written.
  package let seconds: Double
  /// What the link alone would take.
  package let airSeconds: Double
  /// What the flash alone would take.
  package let flashSeconds: Double
  /// What resets are expected to add.
  package let resetSeconds: Double

  package var expectedSeconds: Double { seconds + resetSeconds }
  package var isLimitedByFlash: Bool { flashSeconds > airSeconds }
}
