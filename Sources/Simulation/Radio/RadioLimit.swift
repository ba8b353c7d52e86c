import OtaflashATT

/// The highest rates of the link layer, in bytes of write payload per second. A measured rate
/// divided by one of these rates is the share of the physical limit that a transfer reached.
extension RadioModel {
  /// Returns the rate of Write Commands of `mtu` bytes back to back, as if an event never ended.
  public func continuousLimit(mtu: Int) -> Double {
    let microseconds = fragments(ofPDU: mtu)
      .map { pairMicroseconds(central: $0, peripheral: 0) + PHY.interframeSpaceMicroseconds }
      .reduce(0, +)
    return Double(mtu - Self.attWriteHeaderBytes) / Double(microseconds) * 1e6
  }

  /// Returns the rate of Write Commands of `mtu` bytes if each connection event contains as many
  /// complete packet pairs as fit: the mean over a cycle of events, because events can end within a
  /// PDU. 0 if a packet does not fit an event.
  public func eventPackedLimit(mtu: Int) -> Double {
    let fragments = fragments(ofPDU: mtu)
    // The position in a PDU at which the next event starts depends on the position at which this
    // event started. Follow the events until a position repeats.
    var firstVisit = [Int?](repeating: nil, count: fragments.count)
    var packetsBefore: [Int] = []
    var start = 0
    var packets = 0
    while firstVisit[start] == nil {
      firstVisit[start] = packetsBefore.count
      packetsBefore.append(packets)
      let count = packetsInEvent(of: fragments, from: start)
      guard count > 0 else { return 0 }
      packets += count
      start = (start + count) % fragments.count
    }
    let cycleStart = firstVisit[start] ?? 0
    let cyclePackets = packets - packetsBefore[cycleStart]
    let cycleEvents = packetsBefore.count - cycleStart
    let bytesPerPacket = Double(mtu - Self.attWriteHeaderBytes) / Double(fragments.count)
    return Double(cyclePackets) * bytesPerPacket
      / Double(cycleEvents * interval.microseconds) * 1e6
  }

  /// Returns the rate of Write Requests of `mtu` bytes, each sent after the response to the
  /// previous request: one request per event if the response arrives in the same event, otherwise
  /// one in two events. If a PDU is longer than an event, more events are needed. 0 if a packet
  /// does not fit an event.
  public func writeRequestLimit(mtu: Int) -> Double {
    let fragments = fragments(ofPDU: mtu)
    var events = 0
    var sent = 0
    while sent < fragments.count {
      let count = packetsInEvent(of: fragments, from: sent, limit: fragments.count - sent)
      guard count > 0 else { return 0 }
      sent += count
      events += 1
    }
    if responseEvent == .next { events += 1 }
    return Double(mtu - Self.attWriteHeaderBytes) / Double(events * interval.microseconds) * 1e6
  }

  /// Returns the number of packets that fit one event, in a stream of equal PDUs whose first packet
  /// is `fragments[start]`.
  private func packetsInEvent(of fragments: [Int], from start: Int, limit: Int = .max) -> Int {
    var elapsed = 0
    var count = 0
    while count < min(limit, pairsPerEventMaximum) {
      let fragment = fragments[(start + count) % fragments.count]
      let end = elapsed + pairMicroseconds(central: fragment, peripheral: 0)
      guard end <= usableEventMicroseconds else { break }
      elapsed = end + PHY.interframeSpaceMicroseconds
      count += 1
    }
    return count
  }
}
