/// The progress of a transfer in sectors: the window, and the reactions to answers. A pure value.
struct EspressifTransfer: Equatable, Sendable {
  /// The maximum number of times that a sector is sent again without an accepted sector in between.
  static let repeatsMaximum = 5

  /// The number of sectors of the image.
  let count: Int
  /// The number of sectors that may be sent before an answer.
  let window: Int
  private let statesWanted: Bool
  /// The number of sectors that the device has accepted.
  private(set) var acknowledged: Int
  /// The sector and the packet to send next.
  private(set) var sector: Int
  private(set) var packet = 0
  /// The number of sectors whose last packet was sent.
  private(set) var sent: Int
  /// The number of repetitions since the last accepted sector.
  private(set) var repeats = 0

  init(count: Int, from first: Int, window: Int, statesWanted: Bool) {
    precondition((0...count).contains(first) && window > 0)
    (self.count, self.window, self.statesWanted) = (count, window, statesWanted)
    (acknowledged, sector, sent) = (first, first, first)
  }

  var isComplete: Bool { acknowledged == count }

  /// Whether a packet may be sent now.
  var maySend: Bool { sector < min(count, acknowledged + window) }

  /// Records a sent packet.
  ///
  /// - Parameter isLast: whether it was the last packet of its sector.
  mutating func sentPacket(isLast: Bool) {
    packet += 1
    guard isLast else { return }
    (sector, packet) = (sector + 1, 0)
    sent = max(sent, sector)
  }

  enum Reaction: Equatable {
    case proceed
    /// The device did not accept a sector, or expects another sector.
    case lost
    /// The device reported a status that ends the transfer.
    case failed(EspressifStatus)
  }

  /// Processes the answer to a sector. A repeated or late answer has no effect.
  ///
  /// - Throws: `.protocolViolation` if the device accepts a sector that was not sent.
  mutating func received(_ answer: EspressifSectorAnswer) throws(UpdateFault) -> Reaction {
    let number = Int(answer.sector)
    guard number != EspressifOTA.markerSector else { return .proceed }
    switch answer.status {
    case .accepted:
      guard number < sent else {
        throw .protocolViolation(
          .upload, "the device accepted sector \(number), but only \(sent) were sent")
      }
      accept(upTo: number + 1)
      return .proceed
    case .wrongSector:
      if statesWanted, Int(answer.wanted) <= sent { accept(upTo: Int(answer.wanted)) }
      guard number >= acknowledged else { return .proceed }
      guard statesWanted || repeats == 0 || number != acknowledged else {
        // The device has the sector; only its answer was lost.
        accept(upTo: number + 1)
        return .proceed
      }
      return .lost
    case .rejected, .wrongLength: return number < acknowledged ? .proceed : .lost
    default: return .failed(answer.status)
    }
  }

  /// Records that the device expects this sector next.
  ///
  /// - Returns: `false` if the device cannot expect this sector, because the sectors before it were
  ///   not all sent, or because the device has already accepted it.
  mutating func expects(_ wanted: Int) -> Bool {
    guard (acknowledged...sent).contains(wanted) else { return false }
    accept(upTo: wanted)
    return true
  }

  /// Returns to the first sector that the device has not accepted.
  ///
  /// - Throws: `.blockKeepsFailing` after too many repetitions.
  mutating func goBack() throws(UpdateFault) {
    repeats += 1
    guard repeats <= Self.repeatsMaximum else {
      throw .blockKeepsFailing(
        atOffset: acknowledged * EspressifOTA.sectorSize, attempts: repeats)
    }
    (sector, packet) = (acknowledged, 0)
  }

  private mutating func accept(upTo sectors: Int) {
    guard sectors > acknowledged else { return }
    (acknowledged, repeats) = (sectors, 0)
    if sector < sectors { (sector, packet) = (sectors, 0) }
  }
}
