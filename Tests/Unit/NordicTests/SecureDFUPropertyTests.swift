import OtaflashATT
import OtaflashFirmware
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// A bootloader's treatment of packets: during an erase it queues a few and drops the others.
private struct PageOfFlash {
  /// The maximum number of queued packets, which is 15 in nRF5 SDK 15.
  var queueSize = 15
  var held: [UInt8] = []
  var executed = 0
  var erased = LinkInstant.start
  var queued = 0
  var dropped = 0

  mutating func create(at now: LinkInstant, erasing: Duration) {
    held.removeLast(held.count - executed)
    erased = now.advanced(by: erasing)
    queued = 0
  }

  mutating func take(_ bytes: ArraySlice<UInt8>, at now: LinkInstant) {
    if now < erased {
      queued += 1
      guard queued <= queueSize else {
        dropped += 1
        return
      }
    }
    held += bytes
  }

  var progress: SecureDFUProgress {
    SecureDFUProgress(offset: held.count, crc32: CRC32.checksum(held))
  }
}

@Suite struct SecureDFUPropertyTests {
  /// The image must arrive for every erase time and queue length that three attempts can handle.
  @Test(arguments: 0..<200)
  func everyImageArrives(_ seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let image = PrefixChecksums(
      (0..<Int.random(in: 1...20_000, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      })
    let mtu = Int.random(in: 23...517, using: &random)
    let packetSize = SecureDFUObjects.packetSize(mtu: mtu)
    let erasing = Duration.milliseconds(Int.random(in: 1...700, using: &random))
    var device = PageOfFlash(queueSize: Int.random(in: 3...15, using: &random))
    var transfer = SecureDFUTransfer(
      image: image,
      objects: SecureDFUObjects(total: image.count, objectSize: 4096, packetSize: packetSize),
      receipts: SecureDFUReceipts(packetSize: packetSize), standing: .before(0))
    var now = LinkInstant.start
    var steps = 0
    while transfer.step(at: now) != .complete {
      steps += 1
      try #require(steps < 20_000, "it does not end")
      switch transfer.step(at: now) {
      case .create:
        device.create(at: now, erasing: erasing)
        transfer.created(at: now)
      case .send(let packet):
        device.take(image.bytes[packet], at: now)
        transfer.sent(packet)
        now = now.advanced(by: .microseconds(700))
      case .waitForErase(let erased): now = erased
      case .waitForReceipt:
        _ = try transfer.received(receipt: device.progress)
        // A receipt without new information does not count, and no other receipt follows.
        if transfer.step(at: now) == .waitForReceipt { transfer.doubt() }
      case .askChecksum: _ = try transfer.checked(device.progress)
      case .execute:
        device.executed = device.held.count
        transfer.executed()
      case .complete: break
      }
    }
    #expect(device.held == image.bytes)
    if erasing <= .milliseconds(90), device.queueSize == 15 { #expect(device.dropped == 0) }
  }

  /// Regardless of the answers of a bootloader, the transfer must end, and must send only bytes of
  /// the image.
  @Test(arguments: 0..<200)
  func noAnswerCausesAWrongTransfer(_ seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    let image = ramp(Int.random(in: 1...20_000, using: &random))
    let packetSize = 4 * Int.random(in: 1...61, using: &random)
    let selection = SecureDFUSelection(
      sizeMaximum: Int.random(in: 1...10_000, using: &random),
      progress: Self.progress(of: image, near: image.count / 2, &random))
    var transfer = SecureDFUTransfer(
      image: image,
      objects: SecureDFUObjects(
        total: image.count, objectSize: selection.sizeMaximum, packetSize: packetSize),
      receipts: SecureDFUReceipts(packetSize: packetSize),
      standing: SecureDFUResumeState(selection, of: image))
    var now = LinkInstant.start
    var (end, steps) = (0, 0)
    do throws(UpdateFault) {
      while transfer.step(at: now) != .complete, steps < 200_000 {
        steps += 1
        switch transfer.step(at: now) {
        case .create: transfer.created(at: now)
        case .send(let packet):
          transfer.sent(packet)
          end = packet.upperBound
          if Int.random(in: 0..<200, using: &random) == 0 {
            _ = try transfer.received(receipt: Self.progress(of: image, near: end, &random))
          }
        case .waitForErase(let erased): now = erased
        case .waitForReceipt:
          _ = try transfer.received(receipt: Self.progress(of: image, near: end, &random))
        case .askChecksum:
          _ = try transfer.checked(Self.progress(of: image, near: end, &random))
        case .execute: transfer.executed()
        case .complete: break
        }
        #expect(transfer.acknowledged <= image.count)
      }
      #expect(steps < 200_000)
    } catch {
      guard case .imageRejected = error else {
        Issue.record("\(error)")
        return
      }
    }
  }

  /// The answer is correct, nearly correct, or random.
  private static func progress(
    of image: PrefixChecksums, near offset: Int, _ random: inout SeededRandom
  ) -> SecureDFUProgress {
    switch Int.random(in: 0..<10, using: &random) {
    case 0: SecureDFUProgress(offset: offset, crc32: UInt32.random(in: 0...9, using: &random))
    case 1: SecureDFUProgress(of: image, upTo: Int.random(in: 0...image.count, using: &random))
    case 2: SecureDFUProgress(offset: 1 << 32 - 1, crc32: 0)
    default: SecureDFUProgress(of: image, upTo: offset)
    }
  }

  @Test func aSufficientWaitLosesNoPacketsAndAShortWaitDoes() {
    // Only the wait prevents an overflow of the queue: without it, packets are lost.
    var device = PageOfFlash()
    device.create(at: .start, erasing: .milliseconds(85))
    for _ in 0..<17 { device.take([0, 0, 0, 0], at: .start) }
    #expect(device.dropped == 2)
  }
}
