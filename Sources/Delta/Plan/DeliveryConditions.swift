/// The conditions that determine the time of an update: link, flash, and resets of the device.
package struct DeliveryConditions: Equatable, Sendable {
  /// The rate of the link in bytes per second.
  package var bytesPerSecond: Double
  /// The erase unit of the flash in bytes.
  package var pageSize: Int
  package var eraseSeconds: Double
  /// The time to write a page.
  package var writeSeconds: Double
  /// Whether pages are erased before their data arrives, so that erasing does not delay the
  /// transfer.
  package var isErasedAhead: Bool
  /// Whether pages that already hold their data are neither erased nor written.
  package var keepsPages: Bool
  /// The number of bytes that the device buffers while its flash is busy.
  package var receiveBuffer: Int
  /// The rate of the device's decoder in image bytes per second, without the time of the flash;
  /// `nil` = unknown, and not considered.
  package var decodingRate: Double?
  /// The mean time between two resets of the device during a transfer. Each reset repeats half a
  /// part on average.
  package var secondsBetweenResets: Double

  package init(
    bytesPerSecond: Double, pageSize: Int = 4096, eraseSeconds: Double = 0.085,
    writeSeconds: Double = 0.04, isErasedAhead: Bool = false, keepsPages: Bool = false,
    receiveBuffer: Int = 4096, decodingRate: Double? = nil, secondsBetweenResets: Double = 600
  ) {
    precondition(bytesPerSecond > 0 && pageSize > 0 && secondsBetweenResets > 0)
    precondition(decodingRate ?? 1 > 0)
    self.bytesPerSecond = bytesPerSecond
    self.pageSize = pageSize
    self.eraseSeconds = eraseSeconds
    self.writeSeconds = writeSeconds
    self.isErasedAhead = isErasedAhead
    self.keepsPages = keepsPages
    self.receiveBuffer = receiveBuffer
    self.decodingRate = decodingRate
    self.secondsBetweenResets = secondsBetweenResets
  }

  /// Returns the times to create each page from a patch, or only to write a received page. The
  /// processor waits for the flash, so the times of decoder and flash add up.
  private func pageTimes(count: Int, isDecoded: Bool, unchanged: [Bool]) -> [Double] {
    let decoding = isDecoded ? decodingRate.map { Double(pageSize) / $0 } ?? 0 : 0
    let flash = writeSeconds + (isErasedAhead ? 0 : eraseSeconds)
    return (0..<count).map { page in
      decoding + (keepsPages && page < unchanged.count && unchanged[page] ? 0 : flash)
    }
  }

  /// Returns the predicted time of a stream.
  ///
  /// - Parameters:
  ///   - bytesAtPages: the number of stream bytes up to the end of each page.
  ///   - partEnds: the number of pages up to the end of each part.
  ///   - isDecoded: `false` for the image itself.
  ///   - unchanged: for each page, whether the slot already holds it; empty if this is unknown.
  package func forecast(
    bytesAtPages: [Int], partEnds: [Int], isDecoded: Bool, unchanged: [Bool] = []
  ) -> DeliveryForecast {
    let pageTimes = pageTimes(
      count: bytesAtPages.count, isDecoded: isDecoded, unchanged: unchanged)
    let writtenAt = writingTimes(bytesAtPages, pageTimes)
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
      flashSeconds: pageTimes.reduce(0, +), resetSeconds: loss)
  }

  /// The time at which each page is written: when its bytes have arrived and the previous page is
  /// written. Bytes are sent only while the buffer has space.
  private func writingTimes(_ bytesAtPages: [Int], _ pageTimes: [Double]) -> [Double] {
    var writtenAt: [Double] = []
    var sentAt = 0.0
    var sent = 0
    // The number of pages to write before the last bytes of this page fit into the buffer.
    var before = 0
    for (bytes, pageTime) in zip(bytesAtPages, pageTimes) {
      while before < writtenAt.count, bytesAtPages[before] + receiveBuffer < bytes { before += 1 }
      sentAt += Double(bytes - sent) / bytesPerSecond
      if before > 0 {
        let waiting = bytes - bytesAtPages[before - 1] - receiveBuffer
        sentAt = max(sentAt, writtenAt[before - 1] + Double(waiting) / bytesPerSecond)
      }
      sent = bytes
      writtenAt.append(max(sentAt, writtenAt.last ?? 0) + pageTime)
    }
    return writtenAt
  }
}

/// The expected time of a transfer, and the factors that limit it.
package struct DeliveryForecast: Equatable, Sendable {
  /// The time from sending the first byte to writing the last byte.
  package let seconds: Double
  /// The time that only the link needs.
  package let airSeconds: Double
  /// The time that only flash and decoder need.
  package let flashSeconds: Double
  /// The expected additional time due to resets.
  package let resetSeconds: Double

  package var expectedSeconds: Double { seconds + resetSeconds }
  package var isLimitedByFlash: Bool { flashSeconds > airSeconds }
}
