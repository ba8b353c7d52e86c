/// Chooses the size of the PDUs in a stream of Write Commands so that they fill link-layer packets.
/// A PDU that is slightly longer than its packets needs a further packet exchange for a few bytes.
/// With 251-byte packets, PDUs of 517 bytes are slower than PDUs of 247 bytes.
///
/// The cost of a PDU is its time on air (Core 5.4, Vol 6, Part B, 2.1 and 4.1): the time of its
/// packets, and for each packet two spaces of 150 µs and the empty packet that acknowledges the
/// packet.
package struct PDUSizing: Sendable {
  /// The size of an L2CAP header in bytes (Vol 3, Part A, 3.1).
  fileprivate static let l2capHeaderSize = 4
  /// The size of opcode and handle in bytes, which carry no image data.
  private static let writeHeaderSize = 3

  private let payload: Int
  private let phy: PHY
  private let isEncrypted: Bool
  private let packetsPerEvent: Int?

  /// - Parameters:
  ///   - linkLayerPayload: the bytes of payload in a data packet, 27…251: 251 with Data Length
  ///     Extension, 27 without it.
  ///   - phy: determines the cost of bytes and packets.
  ///   - isEncrypted: whether each packet has the four bytes of the integrity check.
  ///   - packetsPerEvent: the maximum number of packets that the sender's controller sends in an
  ///     event, 1 or more; `nil` = as many as fit.
  package init(
    linkLayerPayload: Int = 251, phy: PHY = .le1M, isEncrypted: Bool = false,
    packetsPerEvent: Int? = nil
  ) {
    precondition((27...251).contains(linkLayerPayload), "a packet carries 27...251 bytes")
    precondition(packetsPerEvent ?? 1 > 0)
    payload = linkLayerPayload
    self.phy = phy
    self.isEncrypted = isEncrypted
    self.packetsPerEvent = packetsPerEvent
  }

  /// Returns the size of a Write Command in bytes with the most value bytes per time on air.
  ///
  /// Only two sizes can be the best: the largest size that fills its packets (n + 4 is a multiple
  /// of the payload), and `mtu` itself, whose last packet is partly full. For the same number of
  /// packets, more bytes are always better, because each packet has a fixed cost. At equal rates
  /// the smaller PDU is chosen, because it needs less memory on the device.
  package func bestSize(mtu: ATTMTU) -> Int {
    let packets = (mtu.bytes + Self.l2capHeaderSize) / payload
    let full = packets * payload - Self.l2capHeaderSize
    guard full > Self.writeHeaderSize else { return mtu.bytes }
    // full/airTime(full) >= mtu/airTime(mtu), without a division.
    let fullIsFaster =
      valueSize(full) * airTimeMicroseconds(size: mtu.bytes)
      >= valueSize(mtu.bytes) * airTimeMicroseconds(size: full)
    return fullIsFaster ? full : mtu.bytes
  }

  /// Returns the size of a Write Command in bytes with the highest throughput if connection events
  /// are `interval` apart. An event contains only complete packet exchanges and the remaining time
  /// is lost, so a shorter PDU may use an event better (Core 5.4, Vol 6, Part B, 4.5.1). With the
  /// 2M PHY and an interval of 15 ms, an event fits eleven exchanges with PDUs of 477 bytes, but
  /// only ten with PDUs of 498 bytes.
  ///
  /// - Parameters:
  ///   - mtu: the largest size.
  ///   - interval: the time between two events; `nil` = unknown, and the result is the size for a
  ///   stream without events.
  ///   - header: bytes of each value that carry no data.
  ///   - unit: each value carries a multiple of this many bytes after the header.
  ///   - answers: the notifications and responses of the device during the stream.
  /// - Returns: the size in bytes. If the interval is unknown or too short for one packet, the
  ///   result is the size for a stream without events, and the value need not be a multiple of
  ///   `unit`.
  package func bestSize(
    mtu: ATTMTU, interval: Duration?, header: Int = 0, unit: Int = 1, answers: [StreamAnswer] = []
  ) -> Int {
    let unbounded = bestSize(mtu: mtu)
    guard let interval else { return unbounded }
    let microseconds = Int(interval / .microseconds(1))
    let least = Self.writeHeaderSize + header + unit
    let (best, most) = stride(from: least, through: max(mtu.bytes, 23), by: unit).reduce(
      into: (unbounded, 0.0)
    ) { found, size in
      let rate = bytesPerSecond(size, microseconds, header, answers)
      if rate > found.1 { found = (size, rate) }
    }
    return most > 0 ? best : unbounded
  }

  /// Returns the rate of data bytes per second with PDUs of `size` bytes.
  private func bytesPerSecond(
    _ size: Int, _ interval: Int, _ header: Int, _ answers: [StreamAnswer]
  ) -> Double {
    let share = Double(size - Self.writeHeaderSize - header) / Double(size)
    let quiet = share * eventPackedRate(size: size, intervalMicroseconds: interval)
    return share * rate(size, interval, answers[...], quiet * Double(interval) / 1e6, taken: 0)
  }

  /// Returns the PDU bytes per second: the mean over the events with fewer and the events with more
  /// answers.
  ///
  /// - Parameters:
  ///   - bytesPerEvent: the number of data bytes in an event without answers.
  ///   - taken: the time that answers use in each event, in microseconds.
  private func rate(
    _ size: Int, _ interval: Int, _ answers: ArraySlice<StreamAnswer>, _ bytesPerEvent: Double,
    taken: Int
  ) -> Double {
    guard let answer = answers.first else {
      return eventPackedRate(size: size, intervalMicroseconds: interval, takenMicroseconds: taken)
    }
    let perEvent = answer.bytes.map { bytesPerEvent / Double($0) } ?? 1
    let time =
      phy.airTimeMicroseconds(payload: answer.payload, encrypted: isEncrypted)
      - phy.airTimeMicroseconds(payload: 0, encrypted: isEncrypted)
    func mean(_ count: Int) -> Double {
      rate(size, interval, answers.dropFirst(), bytesPerEvent, taken: taken + count * time)
    }
    let fewer = Int(perEvent)
    let share = perEvent - Double(fewer)
    let highest = mean(fewer)
    return share > 0 ? highest + (mean(fewer + 1) - highest) * share : highest
  }

  /// Returns the PDU bytes per second in complete exchanges per event; 0 if a packet does not fit
  /// an event. An event can end within a PDU, and the next event then starts with the rest of this
  /// PDU. The offsets of these starts repeat in a cycle; the rate is the mean over one cycle.
  ///
  /// - Parameters:
  ///   - size: the size of a PDU in bytes.
  ///   - intervalMicroseconds: the time from one event to the next.
  ///   - takenMicroseconds: the part of each event that other packets use.
  package func eventPackedRate(
    size: Int, intervalMicroseconds: Int, takenMicroseconds: Int = 0
  ) -> Double {
    let (whole, rest) = (size + Self.l2capHeaderSize).quotientAndRemainder(dividingBy: payload)
    var steps = [Int](repeating: exchangeMicroseconds(bytes: payload), count: whole)
    if rest > 0 { steps.append(exchangeMicroseconds(bytes: rest)) }
    let length = steps.reduce(0, +)
    // The space after the last exchange is the space that must stay free before the next event.
    let room = intervalMicroseconds - takenMicroseconds
    guard let longest = steps.max(), longest <= room else { return 0 }
    // The offset in a PDU at which an event starts depends on the previous offset. The cycle ends
    // when an offset repeats.
    var firstVisit = [Int?](repeating: nil, count: steps.count)
    var sent: [Int] = []
    var start = 0
    var packets = 0
    while firstVisit[start] == nil {
      firstVisit[start] = sent.count
      sent.append(packets)
      var count = room / length * steps.count
      var left = room % length
      var next = start
      while left >= steps[next] {
        left -= steps[next]
        next = (next + 1) % steps.count
        count += 1
      }
      packets += min(count, packetsPerEvent ?? count)
      start = packets % steps.count
    }
    let first = firstVisit[start] ?? 0
    let pdus = Double(packets - sent[first]) / Double(steps.count)
    return pdus * Double(size) / Double((sent.count - first) * intervalMicroseconds) * 1e6
  }

  /// Returns the time on air of one PDU of `size` bytes in an uninterrupted stream, with
  /// acknowledgements.
  package func airTimeMicroseconds(size: Int) -> Int {
    let bytes = size + Self.l2capHeaderSize
    let (packets, rest) = bytes.quotientAndRemainder(dividingBy: payload)
    let whole = packets * exchangeMicroseconds(bytes: payload)
    return rest == 0 ? whole : whole + exchangeMicroseconds(bytes: rest)
  }

  /// Returns the time of one data packet and the empty packet that acknowledges it, each followed
  /// by a space of 150 µs.
  private func exchangeMicroseconds(bytes: Int) -> Int {
    phy.airTimeMicroseconds(payload: bytes, encrypted: isEncrypted)
      + phy.airTimeMicroseconds(payload: 0, encrypted: isEncrypted)
      + 2 * PHY.interframeSpaceMicroseconds
  }

  private func valueSize(_ size: Int) -> Int { size - Self.writeHeaderSize }
}

/// The notifications and responses that a device sends while it receives a stream of Write
/// Commands. Each answer leaves less time in its connection event.
package struct StreamAnswer: Equatable, Sendable {
  /// The number of data bytes from one answer to the next; `nil` = one answer in each event.
  let bytes: Int?
  /// The size of the link-layer payload in bytes.
  let payload: Int

  /// - Parameters:
  ///   - bytes: the number of data bytes from one answer to the next, 1 or more; `nil` = one answer
  ///   in each event.
  ///   - pdu: the size of the answer's ATT PDU in bytes.
  package init(every bytes: Int?, pdu: Int) {
    self.bytes = bytes.map { max(1, $0) }
    payload = pdu + PDUSizing.l2capHeaderSize
  }
}
