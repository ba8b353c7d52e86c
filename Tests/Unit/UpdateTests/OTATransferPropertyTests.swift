import OtaflashFirmware
import OtaflashSimulation
import OtaflashWire
import Testing

@testable import OtaflashUpdate

/// Tests of uploads to random devices that lose, damage and delay data. An upload must always end,
/// and must report completion only if the device holds the image.
@Suite struct OTATransferPropertyTests {
  /// The maximum number of steps, far above the steps of any upload below. A run that reaches the
  /// maximum counts as endless.
  private static let stepsMaximum = 50_000

  @Test(arguments: 0..<200)
  func anUploadOverALossyLinkCompletes(_ seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    var device = RandomDevice(random: random.next(), losses: 0.2, spoils: 0)
    let transfer = try upload(&random, to: &device)
    #expect(transfer.isComplete)
    #expect(device.held == transfer.image)
  }

  @Test(arguments: 0..<200)
  func anUploadToADeviceThatDamagesDataEndsWithoutAWrongPrefix(_ seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed) << 32)
    let spoils = random.unit() * 0.1
    var device = RandomDevice(random: random.next(), losses: random.unit() * 0.5, spoils: spoils)
    do throws(UpdateFault) {
      let transfer = try upload(&random, to: &device)
      #expect(transfer.isComplete)
      #expect(device.held == transfer.image)
    } catch {
      #expect(isGivingUp(error), "\(error)")
    }
  }

  @Test func anUploadToADeviceThatAcceptsNoDataEnds() throws {
    var random = SeededRandom(seed: 1)
    var device = RandomDevice(random: 1, losses: 1, spoils: 0)
    #expect(
      throws: UpdateFault.noProgress(atOffset: 0, repeats: OTATransfer.rewindsMaximum + 1)
    ) { try upload(&random, to: &device) }
  }

  @Test func anUploadToADeviceThatDamagesAllDataEnds() throws {
    var random = SeededRandom(seed: 2)
    var device = RandomDevice(random: 2, losses: 0, spoils: 1)
    let attempts = OTATransfer.blockRepeatsMaximum + 1
    #expect(throws: UpdateFault.blockKeepsFailing(atOffset: 0, attempts: attempts)) {
      try upload(&random, to: &device)
    }
  }

  /// Returns whether `fault` reports a limit that an upload may reach if the device damages data.
  private func isGivingUp(_ fault: UpdateFault) -> Bool {
    switch fault {
    case .blockKeepsFailing, .noProgress: true
    default: false
    }
  }

  private struct Upload {
    let image: [UInt8]
    let isComplete: Bool
  }

  /// Performs an upload as the session does, but without waits.
  private func upload(
    _ random: inout SeededRandom, to device: inout RandomDevice
  ) throws(UpdateFault) -> Upload {
    let image = (0..<Int.random(in: 1...6000, using: &random)).map { _ in
      UInt8.random(in: 0...255, using: &random)
    }
    let prefixes = PrefixChecksums(image)
    let chunk = Int.random(in: RandomDevice.chunks, using: &random)
    var transfer = OTATransfer(prefixes: prefixes, startingAt: 0, chunk: chunk)
    var steps = 0
    while !transfer.isComplete, steps < Self.stepsMaximum {
      steps += 1
      device.work()
      let reaction: OTATransfer.Reaction
      if let status = device.notification(random.unit() < 0.5) {
        reaction = try transfer.received(status, isAnswer: false)
      } else if let range = transfer.sendable {
        #expect(range.upperBound <= transfer.limit && range.count <= chunk)
        transfer.sent(range)
        device.take(image[range])
        reaction = .proceed
      } else {
        reaction = try transfer.received(device.answer(), isAnswer: true)
      }
      if case .discard(let offset) = reaction {
        let payload = device.rewind(to: offset)
        try transfer.rewound(
          to: try decoding(.upload) { () throws(OTADecodeFault) in
            try OTAPosition(decoding: payload)
          })
      }
      #expect(transfer.verified <= transfer.acknowledged)
    }
    #expect(steps < Self.stepsMaximum)
    return Upload(image: image, isComplete: transfer.isComplete)
  }
}

/// A minimal device with a buffer and pages. Writes and notifications may be lost, and received
/// data may be damaged.
private struct RandomDevice {
  /// The possible chunk sizes. The smallest is the chunk size of ATT_MTU 23 (docs/ota-service.md,
  /// 9).
  static let chunks = 16...200
  private static let pageSize = 512
  private static let bufferSize = 1024

  private var random: SeededRandom
  private let losses: Double
  private let spoils: Double
  private(set) var held: [UInt8] = []
  private var written = 0
  private var gapTold = false
  private var notifications: [OTAStatus] = []

  init(random: UInt64, losses: Double, spoils: Double) {
    self.random = SeededRandom(seed: random)
    self.losses = losses
    self.spoils = spoils
  }

  /// Writes a random number of the buffered bytes to the flash.
  mutating func work() {
    written += Int.random(in: 0...(held.count - written), using: &random)
  }

  mutating func take(_ bytes: ArraySlice<UInt8>) {
    if random.unit() < losses { return }
    guard bytes.startIndex == held.count, bytes.count <= window else {
      let note: OTAStatus.Note = bytes.startIndex == held.count ? .overrun : .gap
      if !gapTold { notify(note) }
      gapTold = true
      return
    }
    gapTold = false
    held += bytes
    if random.unit() < spoils { held[held.count - 1] ^= 0x10 }
    if random.unit() < 0.3 { notify(.none) }
  }

  mutating func answer() -> OTAStatus {
    notifications = []
    return status(.none)
  }

  mutating func notification(_ isDelivered: Bool) -> OTAStatus? {
    isDelivered && !notifications.isEmpty ? notifications.removeFirst() : nil
  }

  /// Discards the data from the start of the page that contains `offset`; returns the payload of
  /// the answer to REWIND.
  mutating func rewind(to offset: Int) -> [UInt8] {
    held.removeLast(held.count - offset / Self.pageSize * Self.pageSize)
    written = min(written, held.count)
    gapTold = false
    notifications = []
    var writer = ByteWriter()
    writer.uint32(UInt32(held.count))
    writer.uint32(CRC32.checksum(held))
    return writer.bytes
  }

  private mutating func notify(_ note: OTAStatus.Note) {
    if random.unit() >= losses { notifications.append(status(note)) }
  }

  private var window: Int { Self.bufferSize - (held.count - written) }

  private func status(_ note: OTAStatus.Note) -> OTAStatus {
    OTAStatus(
      state: .receiving, note: note, window: window, nextOffset: held.count,
      crc32: CRC32.checksum(held), durableOffset: written)
  }
}

extension SeededRandom {
  fileprivate mutating func unit() -> Double { Double.random(in: 0..<1, using: &self) }
}
