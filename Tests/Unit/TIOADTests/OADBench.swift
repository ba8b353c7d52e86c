import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Synchronization

@testable import OtaflashUpdate

/// The events and the PDUs of an update, in order.
final class OADLog: Sendable {
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

  /// The commands of the host.
  var commands: [UInt8] { writes.filter { $0.count == 1 }.map { $0[0] } }

  /// The numbers of the blocks of the host.
  var blocks: [UInt32] {
    writes.filter { $0.count > 4 }.map { value in
      (0..<4).reduce(0) { $0 | UInt32(value[$1]) << UInt32(8 * $1) }
    }
  }

  var rewinds: Int { all.count { if case .rewound = $0 { true } else { false } } }

  var offsets: [Int] {
    all.compactMap { if case .transferBegan(let offset, _, _) = $0 { offset } else { nil } }
  }

  /// The durations of the complete uploads.
  var uploads: [Duration] {
    all.compactMap { if case .stageEnded(.upload, let took) = $0 { took } else { nil } }
  }

  var device: DeviceReport? {
    all.lazy.compactMap { if case .device(let report) = $0 { report } else { nil } }.first
  }
}

/// The result of an update of a simulated device, and the final state of the device.
struct OADOutcome: Sendable {
  let result: Result<UpdateResult, UpdateFault>
  let log: OADLog
  let runningImage: [UInt8]
  let counters: BoardCounters
}

/// A change of the host's Write Commands on their way: returns the values to send in place of a
/// value.
typealias Interference = @Sendable (_ number: Int, _ value: [UInt8]) -> [[UInt8]]

/// Sends an image to a new device in virtual time.
func flash(
  _ image: FirmwareImage, onto profile: String,
  _ adjust: (inout UpdateOptions) -> Void = { _ in }, interfering: Interference? = nil
) throws -> OADOutcome {
  var options = UpdateOptions()
  adjust(&options)
  let settings = options
  let timeline = VirtualTimeline()
  let log = OADLog()
  let counter = Counter()
  // A small flash makes the tests faster.
  let isOther = profile.hasPrefix("sim:nordic")
  let slot =
    profile.contains("slot=") || isOther ? "" : (profile.contains("?") ? "&" : "?") + "slot=64K"
  let board = try SimulatedBoard(
    profile: try SimulationProfile(parsing: profile + slot), clock: timeline.clock)
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
  return OADOutcome(
    result: result, log: log, runningImage: try board.runningImage(), counters: board.counters)
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

/// An image for a device, with content that depends on `seed`.
func oad(
  _ size: Int, for profile: String = "ti-oad", seed: UInt64 = 1,
  version: FirmwareVersion = FirmwareVersion(1, 3, 0)
) throws -> FirmwareImage {
  var random = SeededRandom(seed: seed)
  let body = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
  let device = try SimulationProfile(parsing: "sim:" + profile).device
  guard let settings: OADServerSettings = device.settings() else {
    throw UpdateFault.noUpdateService
  }
  return try FirmwareImage.decode(
    name: "app.bin", bytes: SampleImage.oad(body, version: version, settings: settings))
}

func hex(_ bytes: [UInt8]) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
