import Crypto
import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Synchronization

/// A valid MCUboot image, with a body that depends on `seed` and with its SHA-256 in the trailer.
func bootableBytes(
  _ version: MCUbootVersion, size: Int = 5_000, seed: UInt64 = 1
) -> [UInt8] {
  var random = SeededRandom(seed: seed)
  return bootableBytes(
    version, body: (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) })
}

/// - Parameter entries: the entries that the hash covers.
func bootableBytes(
  _ version: MCUbootVersion, body: [UInt8], entries: [UInt8] = []
) -> [UInt8] {
  func littleEndian(_ value: UInt32, _ bytes: Int) -> [UInt8] {
    (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
  }
  let protected =
    entries.isEmpty
    ? [] : littleEndian(0x6908, 2) + littleEndian(UInt32(entries.count + 4), 2) + entries
  let header =
    littleEndian(0x96F3_B83D, 4) + littleEndian(0, 4) + littleEndian(32, 2)
    + littleEndian(UInt32(protected.count), 2)
    + littleEndian(UInt32(body.count), 4) + littleEndian(0, 4) + [version.major, version.minor]
    + littleEndian(UInt32(version.revision), 2) + littleEndian(version.build, 4)
    + littleEndian(0, 4)
  let covered = header + body + protected
  let hash = Array(SHA256.hash(data: covered))
  return covered + littleEndian(0x6907, 2) + littleEndian(40, 2) + littleEndian(0x10, 2)
    + littleEndian(32, 2) + hash
}

func bootable(
  _ version: MCUbootVersion, size: Int = 5_000, seed: UInt64 = 1,
  place: MCUbootPlace = MCUbootPlace()
) throws -> FirmwareImage {
  let bytes = bootableBytes(version, size: size, seed: seed)
  return FirmwareImage(
    name: "app.bin", format: .binary, bytes: bytes, version: version.firmwareVersion, hardware: nil,
    content: .mcuboot(try MCUbootImage(decoding: bytes), place: place))
}

/// The result of an update of a server.
struct SMPBenchResult: Sendable {
  let outcome: Result<UpdateResult, UpdateFault>
  let events: [UpdateEvent]
  let elapsed: Duration

  var rewinds: Int {
    events.count { event in
      if case .rewound = event { true } else { false }
    }
  }

  /// The offset of each start of the transfer.
  var beginnings: [Int] {
    events.compactMap { event in
      if case .transferBegan(let offset, _, _) = event { offset } else { nil }
    }
  }
}

/// A link on which each sent PDU takes the time `pace`.
final class PacedLink: Link {
  private let link: MemoryLink
  private let clock: VirtualClock
  private let pace: Duration

  init(link: MemoryLink, clock: VirtualClock, pace: Duration) {
    self.link = link
    self.clock = clock
    self.pace = pace
  }

  var maximumPDUSize: Int { link.maximumPDUSize }

  func send(_ pdu: [UInt8]) async throws(LinkLoss) {
    if pace > .zero {
      guard await clock.pause(for: pace) else { throw .cancelled }
    }
    try await link.send(pdu)
  }

  func receive() async throws(LinkLoss) -> [UInt8] { try await link.receive() }

  func close() { link.close() }
}

/// Performs an action with a server in virtual time, over as many links as needed.
func withServer<Value: Sendable>(
  _ server: FakeServer, pace: Duration = .zero,
  _ body: @escaping @Sendable (Dialer, VirtualClock) async -> Value
) throws -> (value: Value, elapsed: Duration) {
  let timeline = VirtualTimeline()
  let value = try timeline.run { clock -> Value in
    let calls = Mailbox<MemoryLink>(capacity: 4)
    return await withTaskGroup(of: Void.self) { group in
      group.addTask {
        while let link = await calls.next() { await server.serve(link, clock: clock) }
      }
      let dialer = Dialer { () async throws(ConnectFault) -> any Link in
        let (near, far) = MemoryLink.pair(capacity: 8)
        calls.offer(far)
        return PacedLink(link: near, clock: clock, pace: pace)
      }
      let value = await body(dialer, clock)
      calls.finish()
      group.cancelAll()
      return value
    }
  }
  return (value, timeline.clock.now.elapsed)
}

/// Updates a server in virtual time.
func update(
  _ server: FakeServer, to image: FirmwareImage,
  _ adjust: (inout UpdateOptions) -> Void = { _ in }
) throws -> SMPBenchResult {
  var options = UpdateOptions()
  adjust(&options)
  let events = Mutex<[UpdateEvent]>([])
  let update = FirmwareUpdate(image: image, options: options) { event in
    events.withLock { $0.append(event) }
  }
  let (outcome, elapsed) = try withServer(server) {
    (dialer, clock) -> Result<UpdateResult, UpdateFault> in
    do throws(UpdateFault) {
      return .success(try await update.run(on: dialer, clock: clock))
    } catch {
      return .failure(error)
    }
  }
  return SMPBenchResult(
    outcome: outcome, events: events.withLock { $0 }, elapsed: elapsed)
}
