import OtaflashATT

/// The sizes of data writes that may be the best over a link of which something is not known.
struct SizeCandidates: Sendable {
  /// Sizes that are closer to each other, as shares, are one.
  private static let difference = 0.01
  /// Bytes of opcode and handle.
  private static let writeHeaderSize = 3
  /// What links are usually set to, the likeliest first.
  static let usualIntervals: [Duration] = [
    .milliseconds(15), .milliseconds(30), .microseconds(7500), .milliseconds(50),
  ]

  let sizing: PDUSizing
  /// The longest Write Command that link and device take.
  let mtu: ATTMTU
  /// Bytes of each value that carry none of what is sent.
  let header: Int
  /// Bytes between two notifications of the device.
  let bytesPerAnswer: Int

  /// Bytes of data in a write of so many bytes.
  private func chunk(_ size: Int) -> Int { size - Self.writeHeaderSize - header }

  /// The best where `room` of each connection event can be filled; `nil` = nobody knows how much.
  func best(for room: Duration?) -> Int {
    chunk(
      sizing.bestSize(mtu: mtu, interval: room, header: header, bytesPerAnswer: bytesPerAnswer))
  }

  /// Bytes of data in a second by the model.
  func bytesPerSecond(chunk: Int, interval: Duration) -> Double {
    sizing.bytesPerSecond(
      size: chunk + Self.writeHeaderSize + header, interval: interval, header: header,
      bytesPerAnswer: bytesPerAnswer)
  }

  /// What is worth trying beside `first`, the likeliest before the others: the best for events
  /// with so much room, what just fills two packets or one, and what ATT_MTU takes. But for the
  /// one packet, nothing shorter than half of that.
  func others(than first: Int, rooms: [Duration]) -> [Int] {
    let largest = chunk(mtu.bytes)
    let onePacket = chunk(sizing.size(filling: 1))
    let sizes = rooms.map { best(for: $0) } + [chunk(sizing.size(filling: 2)), onePacket, largest]
    return sizes.reduce(into: [first]) { found, size in
      let isLong = size * 2 >= largest || size == onePacket
      guard size > 0, size <= largest, isLong else { return }
      let isNew = found.allSatisfy {
        Double(abs($0 - size)) > Double($0) * Self.difference
      }
      if isNew { found.append(size) }
    }.filter { $0 != first }
  }

  /// The rooms that a round trip speaks for, over a link of which no interval is known: a request
  /// goes in one event and its answer comes in the next, or in the same one. Intervals are
  /// multiples of 1.25 ms from 7.5 ms on.
  static func rooms(for roundTrip: Duration) -> [Duration] {
    func interval(_ time: Duration) -> Duration {
      let steps = (time / .microseconds(1250)).rounded()
      return .microseconds(1250) * Int(max(6, min(steps, 3200)))
    }
    return [interval(roundTrip / 2), interval(roundTrip)] + usualIntervals
  }
}
