import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Synchronization

@testable import OtaflashUpdate

/// The events and the PDUs of an update, in order.
final class MicrobitLog: Sendable {
  private let events = Mutex<[UpdateEvent]>([])
  private let pdus = Mutex<[TracingLink.Crossing]>([])

  func note(_ event: UpdateEvent) { events.withLock { $0.append(event) } }
  func note(_ crossing: TracingLink.Crossing) { pdus.withLock { $0.append(crossing) } }

  var all: [UpdateEvent] { events.withLock { $0 } }

  /// The values of the Write Commands of the host.
  var writes: [[UInt8]] {
    pdus.withLock { $0 }
      .filter { $0.direction == .sent && $0.pdu.first == ATTOpcode.writeCommand.rawValue }
      .map { Array($0.pdu.dropFirst(3)) }
  }

  /// The commands of the host, without data packets.
  var commands: [[UInt8]] { writes.filter { $0.first != 0x01 } }

  var packets: [[UInt8]] { writes.filter { $0.first == 0x01 } }

  var rewinds: Int { all.count { if case .rewound = $0 { true } else { false } } }

  /// The durations of the complete uploads.
  var uploads: [Duration] {
    all.compactMap { if case .stageEnded(.upload, let took) = $0 { took } else { nil } }
  }

  var offsets: [Int] {
    all.compactMap { if case .transferBegan(let offset, _, _) = $0 { offset } else { nil } }
  }
}

/// The result of an update of a simulated device, and the final state of the device.
struct MicrobitOutcome: Sendable {
  let result: Result<UpdateResult, UpdateFault>
  let log: MicrobitLog
  let runningImage: [UInt8]
  let counters: BoardCounters
  let flashFaults: [FlashFault]

  /// The refusal that ended the update; `nil` if the update did not end with a refusal.
  var refusal: ProtocolRefusal? {
    if case .failure(.declined(_, let refusal)) = result { refusal } else { nil }
  }
}

/// A change of the host's Write Commands on their way: returns the values to send in place of a
/// value.
typealias Interference = @Sendable (_ number: Int, _ value: [UInt8]) -> [[UInt8]]

/// Sends an image to a new device in virtual time.
func flash(
  _ image: FirmwareImage, onto profile: String,
  _ adjust: (inout UpdateOptions) -> Void = { _ in }, interfering: Interference? = nil
) throws -> MicrobitOutcome {
  var options = UpdateOptions()
  adjust(&options)
  let settings = options
  let timeline = VirtualTimeline()
  let log = MicrobitLog()
  let counter = Counter()
  // A small flash makes the tests faster.
  let slot = profile.contains("slot=") ? "" : (profile.contains("?") ? "&" : "?") + "slot=64K"
  let board = try SimulatedBoard(
    profile: try SimulationProfile(parsing: "sim:" + profile + slot), clock: timeline.clock)
  let result = try timeline.run(limit: .seconds(7200)) {
    clock -> Result<UpdateResult, UpdateFault> in
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await board.run() }
      defer { group.cancelAll() }
      let dialer = Dialer(at: { (place) async throws(ConnectFault) -> any Link in
        let link = try await board.dial(at: place)
        guard let interfering else { return link }
        return InterferedLink(link) { interfering(counter.next(), $0) }
      }).tracing(on: clock) { log.note($0) }
      let update = FirmwareUpdate(image: image, options: settings) { log.note($0) }
      do throws(UpdateFault) {
        return .success(try await update.run(on: dialer, clock: clock))
      } catch {
        return .failure(error)
      }
    }
  }
  return MicrobitOutcome(
    result: result, log: log, runningImage: try board.runningImage(), counters: board.counters,
    flashFaults: board.flashFaults)
}

/// Counts from 1.
final class Counter: Sendable {
  private let count = Mutex(0)
  func next() -> Int {
    count.withLock {
      $0 += 1
      return $0
    }
  }
}

/// The host's end of a link on which Write Commands are lost, repeated or changed.
final class InterferedLink: Link {
  private let base: any Link
  private let change: @Sendable ([UInt8]) -> [[UInt8]]

  init(_ base: any Link, _ change: @escaping @Sendable ([UInt8]) -> [[UInt8]]) {
    (self.base, self.change) = (base, change)
  }

  var maximumPDUSize: Int { base.maximumPDUSize }
  var facts: LinkFacts { base.facts }
  var security: AttributeSecurity { base.security }

  func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault) {
    try await base.raiseSecurity(to: wanted)
  }

  func send(_ pdu: [UInt8]) async throws(LinkLoss) {
    guard pdu.first == ATTOpcode.writeCommand.rawValue else { return try await base.send(pdu) }
    for value in change(Array(pdu.dropFirst(3))) { try await base.send(pdu.prefix(3) + value) }
  }

  func receive() async throws(LinkLoss) -> [UInt8] { try await base.receive() }

  func close() { base.close() }
}

/// The settings of a preset with these keys.
func settings(_ profile: String) throws -> MicrobitSettings {
  let device = try SimulationProfile(parsing: "sim:" + profile).device
  guard let settings: MicrobitSettings = device.settings() else {
    throw ProfileFault.unknownProfile(name: profile, allowed: [])
  }
  return settings
}

/// A program with a script whose content depends on `seed`.
///
/// - Parameter profile: the device, whose board and editor determine the format.
func program(_ size: Int, for profile: String = "microbit", seed: UInt64 = 1) throws
  -> FirmwareImage
{
  var random = SeededRandom(seed: seed)
  let body = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
  return try FirmwareImage.decode(
    name: "program.hex", bytes: SampleImage.microbit(body, for: try settings(profile)))
}
