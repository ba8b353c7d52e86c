/// Chooses how large the PDUs of a stream of Write Commands should be, so that they fill link-layer
/// packets: a PDU just over a packet's end pays for a whole further exchange of packets to carry a
/// few octets. With 251-octet packets, PDUs of 517 octets are slower than PDUs of 247.
///
/// The cost of a PDU is its time on air (Core 5.4, Vol 6, Part B, 2.1 and 4.1): for each packet
/// its octets, two spaces of 150 µs, and the empty packet that acknowledges it.
package struct PDUSizing: Sendable {
  /// Octets of an L2CAP header (Vol 3, Part A, 3.1).
  private static let l2capHeaderSize = 4
  /// Octets of opcode and handle, which carry none of the image.
  private static let writeHeaderSize = 3
  /// The link-layer payload of a notification of 16 octets.
  package static let answerSize = 23

  private let payload: Int
  private let phy: PHY
  private let isEncrypted: Bool

  /// - Parameters:
  ///   - linkLayerPayload: octets that a data packet carries, 27…251: 251 with Data Length
  ///     Extension, 27 without.
  ///   - phy: shifts the balance between octets and packets.
  ///   - isEncrypted: four octets of each packet are its integrity check.
  package init(linkLayerPayload: Int = 251, phy: PHY = .le1M, isEncrypted: Bool = false) {
    precondition((27...251).contains(linkLayerPayload), "a packet carries 27...251 octets")
    payload = linkLayerPayload
    self.phy = phy
    self.isEncrypted = isEncrypted
  }

  /// The size of a Write Command, in octets, that carries the most value octets per time on air.
  ///
  /// Only two sizes can win: the largest that fills its packets (n + 4 is a multiple of the
  /// payload), and `mtu` itself, whose last packet is part full. Within the same number of packets
  /// more octets are always better, since each packet costs its fixed share once. Equal rates take
  /// the smaller PDU: it needs less memory on the device.
  package func bestSize(mtu: ATTMTU) -> Int {
    let packets = (mtu.octets + Self.l2capHeaderSize) / payload
    let full = packets * payload - Self.l2capHeaderSize
    guard full > Self.writeHeaderSize else { return mtu.octets }
    // full/airTime(full) >= whole/airTime(whole), without dividing.
    let fullIsFaster =
      valueSize(full) * airTimeMicroseconds(size: mtu.octets)
      >= valueSize(mtu.octets) * airTimeMicroseconds(size: full)
    return fullIsFaster ? full : mtu.octets
  }

  /// The size of a Write Command, in octets, that carries the most where connection events are
  /// `interval` apart: whole exchanges of packets fit an event, and what is left of it is lost, so
  /// that a shorter PDU may leave less (Core 5.4, Vol 6, Part B, 4.5.1). At 2M and 15 ms eleven
  /// exchanges of PDUs of 477 octets fit, and ten of 498.
  ///
  /// - Parameters:
  ///   - mtu: the largest size.
  ///   - interval: `nil` = not known; the size is that for a stream without events.
  ///   - header: octets of each value that carry none of what is sent.
  ///   - unit: octets of which each value carries whole ones, beside the header.
  ///   - octetsPerAnswer: after so many octets the device notifies, which makes an event shorter;
  ///     `nil` = hardly ever.
  ///   - answer: octets of link-layer payload of such a notification.
  /// - Returns: where the interval is not known, or no packet fits it, the size for a stream
  ///   without events, whose value need not be whole units.
  package func bestSize(
    mtu: ATTMTU, interval: Duration?, header: Int = 0, unit: Int = 1,
    octetsPerAnswer: Int? = nil, answer: Int = answerSize
  ) -> Int {
    let unbounded = bestSize(mtu: mtu)
    guard let interval else { return unbounded }
    let microseconds = Int(interval / .microseconds(1))
    let answers = answers(octetsPerAnswer, answer)
    let least = Self.writeHeaderSize + header + unit
    let (best, most) = stride(from: least, through: max(mtu.octets, 23), by: unit).reduce(
      into: (unbounded, 0.0)
    ) { found, size in
      let rate = octetsPerSecond(size, microseconds, header, answers)
      if rate > found.1 { found = (size, rate) }
    }
    return most > 0 ? best : unbounded
  }

  /// The size of a PDU, in octets, that just fills so many link-layer packets.
  package func size(filling packets: Int) -> Int { packets * payload - Self.l2capHeaderSize }

  /// Octets of what is sent that Write Commands of `size` octets carry in a second; the rest as in
  /// `bestSize`.
  package func octetsPerSecond(
    size: Int, interval: Duration, header: Int = 0, octetsPerAnswer: Int? = nil,
    answer: Int = answerSize
  ) -> Double {
    octetsPerSecond(
      size, Int(interval / .microseconds(1)), header, answers(octetsPerAnswer, answer))
  }

  /// What answers take of an event.
  private func answers(_ octets: Int?, _ answer: Int) -> (octets: Int, taken: Int)? {
    let taken =
      phy.airTimeMicroseconds(payload: answer, encrypted: isEncrypted)
      - phy.airTimeMicroseconds(payload: 0, encrypted: isEncrypted)
    return octets.map { (octets: max(1, $0), taken: taken) }
  }

  /// Of what is sent, in PDUs of `size` octets, as the mean of events with and without an answer.
  private func octetsPerSecond(
    _ size: Int, _ interval: Int, _ header: Int, _ answers: (octets: Int, taken: Int)?
  ) -> Double {
    let share = Double(size - Self.writeHeaderSize - header) / Double(size)
    let quiet = share * eventPackedRate(size: size, intervalMicroseconds: interval)
    guard let answers else { return quiet }
    let answered =
      share
      * eventPackedRate(
        size: size, intervalMicroseconds: interval, takenMicroseconds: answers.taken)
    let answersPerEvent = quiet * Double(interval) / 1e6 / Double(answers.octets)
    return quiet + (answered - quiet) * min(1, answersPerEvent)
  }

  /// Octets of PDU per second in whole exchanges per event, over the cycle in which events cut
  /// PDUs; 0 where a packet does not fit an event.
  ///
  /// - Parameters:
  ///   - size: octets of a PDU.
  ///   - intervalMicroseconds: from one event to the next.
  ///   - takenMicroseconds: of each event, for something else.
  package func eventPackedRate(
    size: Int, intervalMicroseconds: Int, takenMicroseconds: Int = 0
  ) -> Double {
    let (whole, rest) = (size + Self.l2capHeaderSize).quotientAndRemainder(dividingBy: payload)
    var steps = [Int](repeating: exchangeMicroseconds(octets: payload), count: whole)
    if rest > 0 { steps.append(exchangeMicroseconds(octets: rest)) }
    let length = steps.reduce(0, +)
    // The space behind the last exchange is the one that is kept free before the next event.
    let room = intervalMicroseconds - takenMicroseconds
    guard let longest = steps.max(), longest <= room else { return 0 }
    // Where in a PDU an event begins depends on where the last one began: until one comes again.
    var firstVisit = [Int?](repeating: nil, count: steps.count)
    var sent: [Int] = []
    var start = 0
    var packets = 0
    while firstVisit[start] == nil {
      firstVisit[start] = sent.count
      sent.append(packets)
      packets += room / length * steps.count
      var left = room % length
      var next = start
      while left >= steps[next] {
        left -= steps[next]
        next = (next + 1) % steps.count
        packets += 1
      }
      start = packets % steps.count
    }
    let first = firstVisit[start] ?? 0
    let pdus = Double(packets - sent[first]) / Double(steps.count)
    return pdus * Double(size) / Double((sent.count - first) * intervalMicroseconds) * 1e6
  }

  /// Time on air of one PDU of `size` octets in an uninterrupted stream, with acknowledgements.
  package func airTimeMicroseconds(size: Int) -> Int {
    let octets = size + Self.l2capHeaderSize
    let (packets, rest) = octets.quotientAndRemainder(dividingBy: payload)
    let whole = packets * exchangeMicroseconds(octets: payload)
    return rest == 0 ? whole : whole + exchangeMicroseconds(octets: rest)
  }

  /// One data packet and the empty packet that answers it, each followed by a space.
  private func exchangeMicroseconds(octets: Int) -> Int {
    phy.airTimeMicroseconds(payload: octets, encrypted: isEncrypted)
      + phy.airTimeMicroseconds(payload: 0, encrypted: isEncrypted)
      + 2 * PHY.interframeSpaceMicroseconds
  }

  private func valueSize(_ size: Int) -> Int { size - Self.writeHeaderSize }
}
