import OtaflashATT
import OtaflashFirmware

/// The pure logic that transfers an image's data objects. It determines the next step, and
/// evaluates each response. The session sends and waits.
///
/// The transfer does not execute the last object: its execution is the activation, because the
/// bootloader then checks and starts the image.
struct SecureDFUTransfer {
  enum Step: Equatable {
    case create(size: Int)
    /// Sends one packet with these bytes of the image.
    case send(Range<Int>)
    /// Waits, because the page is still being erased or written, and the bootloader's queues may be
    /// full.
    case waitForErase(until: LinkInstant)
    case waitForReceipt
    case askChecksum
    /// Executes the object. If the bootloader has already executed it, on an earlier connection or
    /// before a response was lost, it responds that the operation is not permitted.
    case execute
    case complete
  }

  private enum Phase {
    case creating(Range<Int>)
    /// The object must be created; then the progress of the bootloader is read.
    case recovering(Range<Int>)
    case recovered(Range<Int>)
    case sending(Range<Int>, next: Int)
    case checking(Range<Int>, sent: Int)
    case executing(Range<Int>)
    case complete
  }

  /// The maximum number of times that an incomplete object is created again. One additional repeat
  /// is permitted if a single packet was lost. The same maximum applies to repeats of a refused
  /// create request.
  static let objectRepeatsMaximum = 3

  private let image: PrefixChecksums
  private let objects: SecureDFUObjects
  private var phase: Phase
  private var receipts: SecureDFUReceipts
  private var eraseWait = SecureDFUEraseWait()
  /// The time at which the erase of the current object's page is expected to end; `nil` if this
  /// transfer has not created an object yet.
  private var erased: LinkInstant?
  /// The number of packets sent since the creation of the current object.
  private var packetsOfObject = 0
  /// The earliest time to create an object: until then, an erase and the waiting writes fill the
  /// bootloader's queue.
  private var rest: LinkInstant?
  private var repeats = 0
  /// The number of repeats that a single lost packet explains, 1 at most.
  private var strays = 0
  private var creationRepeats = 0
  /// Whether the request for the checksum was repeated, because the last response contained nothing
  /// new.
  private var isAskedAgain = false
  /// The number of image bytes that the bootloader is known to hold.
  private(set) var acknowledged: Int

  init(
    image: PrefixChecksums, objects: SecureDFUObjects, receipts: SecureDFUReceipts,
    standing: SecureDFUResumeState
  ) {
    self.image = image
    self.objects = objects
    self.receipts = receipts
    acknowledged = standing.offset
    phase =
      switch standing {
      case .before(let offset): .creating(objects.object(holding: offset))
      case .differing(let offset): .recovering(objects.object(holding: offset))
      case .inside(let offset): .sending(objects.object(holding: offset), next: offset)
      case .behind(objects.total): .complete
      case .behind(let offset): .executing(objects.object(holding: offset - 1))
      }
  }

  func step(at now: LinkInstant) -> Step {
    switch phase {
    case .creating(let object), .recovering(let object):
      if let rest, now < rest { return .waitForErase(until: rest) }
      return .create(size: object.count)
    case .sending(let object, let next):
      if receipts.isDue { return .waitForReceipt }
      if let erased,
        let opening = eraseWait.opening(
          behind: packetsOfObject, of: objects.packetSize, erased: erased), now < opening
      {
        return .waitForErase(until: opening)
      }
      return .send(objects.packet(at: next, in: object))
    case .checking, .recovered: return .askChecksum
    case .executing: return .execute
    case .complete: return .complete
    }
  }

  // MARK: Completed steps

  /// Records that the bootloader responded to create at `now`.
  mutating func created(at now: LinkInstant) {
    switch phase {
    case .creating(let object): phase = .sending(object, next: object.lowerBound)
    case .recovering(let object): phase = .recovered(object)
    case .recovered, .sending, .checking, .executing, .complete:
      preconditionFailure("nothing to create")
    }
    erased = now.advanced(by: eraseWait.duration)
    packetsOfObject = 0
    rest = nil
    creationRepeats = 0
    receipts.restart()
  }

  /// Records that the bootloader could not queue the erase at `now`. Returns whether to make
  /// another attempt.
  mutating func creationFailed(at now: LinkInstant) -> Bool {
    creationRepeats += 1
    guard creationRepeats <= Self.objectRepeatsMaximum else { return false }
    eraseWait.missed()
    rest = now.advanced(by: eraseWait.duration)
    return true
  }

  mutating func sent(_ packet: Range<Int>) {
    guard case .sending(let object, packet.lowerBound) = phase else {
      preconditionFailure("a packet out of its order")
    }
    receipts.packetSent()
    packetsOfObject += 1
    phase =
      packet.upperBound == object.upperBound
      ? .checking(object, sent: packet.upperBound) : .sending(object, next: packet.upperBound)
  }

  /// Records that the current object was executed, now or earlier.
  mutating func executed() {
    guard case .executing(let object) = phase else { preconditionFailure("nothing to execute") }
    repeats = 0
    strays = 0
    phase = .creating(objects.object(holding: object.upperBound))
  }

  // MARK: Messages of the bootloader

  enum Reaction: Equatable {
    case proceed
    /// The object that starts at this offset did not arrive completely, and is sent again.
    case again(from: Int)
  }

  /// Processes a receipt, which should acknowledge all bytes sent so far.
  ///
  /// - Throws: `.imageRejected` if an object repeatedly arrives damaged.
  mutating func received(receipt progress: SecureDFUProgress) throws(UpdateFault) -> Reaction {
    // A receipt that is no longer expected is late, and contains nothing new.
    guard case .sending(let object, let next) = phase, receipts.isDue else { return .proceed }
    guard !isKnown(progress) else { return .proceed }
    receipts.received()
    guard agrees(progress, upTo: next) else { return try again(object, progress, sent: next) }
    acknowledged = next
    return .proceed
  }

  /// Requests the progress of the bootloader after a missing receipt or a refused packet.
  mutating func doubt() {
    guard case .sending(let object, let next) = phase else { return }
    receipts.giveUp()
    phase = .checking(object, sent: next)
  }

  /// Processes the response to checksum.
  ///
  /// - Throws: `.imageRejected` if an object repeatedly arrives damaged, or if the bootloader did
  ///   not go back to the start of a differing object.
  mutating func checked(_ progress: SecureDFUProgress) throws(UpdateFault) -> Reaction {
    if case .recovered(let object) = phase { return try recover(object, progress) }
    guard case .checking(let object, let sent) = phase else {
      preconditionFailure("no checksum was requested")
    }
    guard agrees(progress, upTo: sent) else {
      if isKnown(progress), !isAskedAgain {
        isAskedAgain = true
        return .proceed
      }
      return try again(object, progress, sent: sent)
    }
    isAskedAgain = false
    acknowledged = sent
    if sent < object.upperBound {
      phase = .sending(object, next: sent)
    } else {
      eraseWait.held()
      phase = sent == objects.total ? .complete : .executing(object)
    }
    return .proceed
  }

  /// Checks that the bootloader went back to the start of the object. The bootloader keeps executed
  /// objects, even of another image, until a new object for the init packet is created.
  private mutating func recover(
    _ object: Range<Int>, _ progress: SecureDFUProgress
  ) throws(UpdateFault) -> Reaction {
    let start = object.lowerBound
    guard agrees(progress, upTo: start) else {
      throw .imageRejected(
        expectedCRC32: image.checksum(ofFirst: start), deviceCRC32: progress.crc32)
    }
    acknowledged = start
    phase = .sending(object, next: start)
    return .proceed
  }

  /// Returns whether the message contains nothing new; a late receipt, for example, reports bytes
  /// that are already acknowledged. If the bootloader lost all later bytes, the response to the
  /// next checksum request shows the loss.
  private func isKnown(_ progress: SecureDFUProgress) -> Bool {
    progress.offset <= acknowledged && agrees(progress, upTo: progress.offset)
  }

  private func agrees(_ progress: SecureDFUProgress, upTo offset: Int) -> Bool {
    progress == SecureDFUProgress(offset: offset, crc32: image.checksum(ofFirst: offset))
  }

  private mutating func again(
    _ object: Range<Int>, _ found: SecureDFUProgress, sent: Int
  ) throws(UpdateFault) -> Reaction {
    let strayed = repeats == 0 && isStray(object, found, sent: sent)
    if strayed { strays = 1 }
    repeats += 1
    guard repeats - strays <= Self.objectRepeatsMaximum else {
      throw .imageRejected(
        expectedCRC32: image.checksum(ofFirst: object.upperBound), deviceCRC32: found.crc32)
    }
    if !strayed { eraseWait.missed() }
    if repeats > 1 { eraseWait.overflowed() }
    isAskedAgain = false
    acknowledged = object.lowerBound
    phase = .creating(object)
    return .again(from: object.lowerBound)
  }

  /// Returns whether a single lost packet explains the difference, and this packet is not the first
  /// packet after a full queue. The loss of the first packet after a full queue indicates that the
  /// erase took longer than the wait.
  private func isStray(
    _ object: Range<Int>, _ found: SecureDFUProgress, sent: Int
  ) -> Bool {
    let starts = stride(from: object.lowerBound, to: sent, by: objects.packetSize)
    return starts.enumerated().contains { number, start in
      let packet = objects.packet(at: start, in: object)
      let full = eraseWait.packets...SecureDFUEraseWait.packetsInitial
      let isBehindFullQueue = full.contains(number)
      return !isBehindFullQueue && found.offset == sent - packet.count
        && found.crc32 == checksum(ofFirst: sent, without: packet)
    }
  }

  private func checksum(ofFirst sent: Int, without packet: Range<Int>) -> UInt32 {
    var crc = CRC32(continuing: image.checksum(ofFirst: packet.lowerBound))
    crc.update(image.bytes[packet.upperBound..<sent])
    return crc.value
  }
}
