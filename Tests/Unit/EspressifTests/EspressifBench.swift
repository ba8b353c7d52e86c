import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

@testable import OtaflashUpdate

/// The profiles of the five implementations.
let implementations = [
  "esp-nimble", "esp-bluedroid", "esp-raw", "esp-nimbleota", "esp-bleota",
]

/// A profile with flash times of zero and a small partition.
func quick(_ name: String, _ settings: String = "") -> String {
  "sim:\(name)?erase=0&write=0&slot=64K" + (settings.isEmpty ? "" : "&" + settings)
}

/// The events and PDUs of an update, in order.
final class EventLog: Sendable {
  private let events = Mutex<[UpdateEvent]>([])
  private let pdus = Mutex<[TracingLink.Crossing]>([])

  var crossings: [TracingLink.Crossing] { pdus.withLock { $0 } }
  func note(_ crossing: TracingLink.Crossing) { pdus.withLock { $0.append(crossing) } }
  func note(_ event: UpdateEvent) { events.withLock { $0.append(event) } }
  var all: [UpdateEvent] { events.withLock { $0 } }

  /// The offsets at which the transfers started.
  var offsets: [Int] {
    all.compactMap { event in
      if case .transferBegan(let offset, _, _) = event { offset } else { nil }
    }
  }

  var rewinds: Int { all.count { if case .rewound = $0 { true } else { false } } }
}

struct Outcome: Sendable {
  let results: [Result<UpdateResult, UpdateFault>]
  let log: EventLog
  /// The PDUs that were sent to the device, without lost packets, and all PDUs of the device.
  let delivered: [[UInt8]]
  let runningImage: [UInt8]
  let elapsed: Duration

  var last: Result<UpdateResult, UpdateFault> { results[results.count - 1] }
  var fault: UpdateFault? { if case .failure(let fault) = last { fault } else { nil } }
  var refusal: ProtocolRefusal? {
    if case .declined(_, let refusal) = fault { refusal } else { nil }
  }
}

/// The alteration of the packets and answers of an update.
struct Interference: Sendable {
  enum Action: Sendable { case pass, lose, twice, late }
  /// Selects the action for a packet without response, by its number from 1.
  var packets: @Sendable (Int) -> Action = { _ in .pass }
  /// Selects the action for an answer, by its number from 1.
  var answers: @Sendable (Int) -> Action = { _ in .pass }
  /// The number of PDUs, in both directions and over all connections, after which the link is cut
  /// once.
  var cut: Int?
}

/// Sends images one after the other to a device, in virtual time.
func flash(
  _ images: [FirmwareImage], onto text: String, cancelAfter: Duration? = nil,
  powerCutAfter: Duration? = nil, _ interference: Interference = Interference(),
  _ adjust: (inout UpdateOptions) -> Void = { _ in }
) throws -> Outcome {
  var options = UpdateOptions()
  options.sendsAnyway = true
  adjust(&options)
  let (profile, settings) = (try SimulationProfile(parsing: text), options)
  let timeline = VirtualTimeline()
  let log = EventLog()
  let counters = InterferenceState()
  let board = try SimulatedBoard(profile: profile, clock: timeline.clock)
  let results = try timeline.run(limit: .seconds(7200)) { clock in
    await withTaskGroup(of: [Result<UpdateResult, UpdateFault>]?.self) { group in
      group.addTask {
        await board.run()
        return nil
      }
      if let powerCutAfter {
        group.addTask {
          if await clock.pause(for: powerCutAfter) { board.powerCut() }
          return nil
        }
      }
      group.addTask {
        let dialer = Dialer(at: { (place) async throws(ConnectFault) -> any Link in
          InterferingLink(try await board.dial(at: place), interference, counters)
        }).tracing(on: clock) { log.note($0) }
        var results: [Result<UpdateResult, UpdateFault>] = []
        for (index, image) in images.enumerated() {
          let update = FirmwareUpdate(image: image, options: settings) { log.note($0) }
          results.append(
            await outcome(of: update, on: dialer, clock, index == 0 ? cancelAfter : nil))
        }
        return results
      }
      var results: [Result<UpdateResult, UpdateFault>] = []
      while results.isEmpty, let finished = await group.next() { results = finished ?? [] }
      group.cancelAll()
      return results
    }
  }
  return Outcome(
    results: results, log: log, delivered: counters.delivered,
    runningImage: try board.runningImage(),
    elapsed: timeline.clock.now.elapsed)
}

private func outcome(
  of update: FirmwareUpdate, on dialer: Dialer, _ clock: any LinkClock, _ limit: Duration?
) async -> Result<UpdateResult, UpdateFault> {
  await withTaskGroup(of: Result<UpdateResult, UpdateFault>?.self) { group in
    group.addTask {
      do throws(UpdateFault) {
        return .success(try await update.run(on: dialer, clock: clock))
      } catch {
        return .failure(error)
      }
    }
    if let limit {
      group.addTask {
        _ = await clock.pause(for: limit)
        return nil
      }
    }
    for await part in group {
      group.cancelAll()
      if let part { return part }
    }
    preconditionFailure("the update ended without a result")
  }
}

/// The counters of an interference over all connections.
final class InterferenceState: Sendable {
  private struct Counts { var packets = 0, answers = 0, all = 0, isCut = false }
  private let counts = Mutex(Counts())
  private let pdus = Mutex<[[UInt8]]>([])

  var delivered: [[UInt8]] { pdus.withLock { $0 } }
  func note(_ pdu: [UInt8]) { pdus.withLock { $0.append(pdu) } }

  func nextPacket() -> Int {
    counts.withLock {
      $0.packets += 1; return $0.packets
    }
  }
  func nextAnswer() -> Int {
    counts.withLock {
      $0.answers += 1; return $0.answers
    }
  }

  /// Counts a PDU; returns whether the link is cut now.
  func cuts(at limit: Int?) -> Bool {
    counts.withLock { counts in
      counts.all += 1
      guard let limit, !counts.isCut, counts.all > limit else { return false }
      counts.isCut = true
      return true
    }
  }
}

/// A host's link on which Write Commands and answers are lost, repeated or delayed.
final class InterferingLink: Link {
  private let base: any Link
  private let interference: Interference
  private let state: InterferenceState
  /// The answers that `receive()` returns next.
  private let waiting = Mutex<[[UInt8]]>([])
  private let delayed = Mutex<[UInt8]?>(nil)
  private let delayedPacket = Mutex<[UInt8]?>(nil)

  init(_ base: any Link, _ interference: Interference, _ state: InterferenceState) {
    (self.base, self.interference, self.state) = (base, interference, state)
  }

  var maximumPDUSize: Int { base.maximumPDUSize }
  var facts: LinkFacts { base.facts }
  var security: AttributeSecurity { base.security }

  func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault) {
    try await base.raiseSecurity(to: wanted)
  }

  private func cutIfDue() throws(LinkLoss) {
    guard state.cuts(at: interference.cut) else { return }
    base.close()
    throw .supervisionTimeout
  }

  func send(_ pdu: [UInt8]) async throws(LinkLoss) {
    try cutIfDue()
    guard pdu.first == ATTOpcode.writeCommand.rawValue else { return try await deliver(pdu) }
    let held = delayedPacket.withLock { packet in
      defer { packet = nil }
      return packet
    }
    switch interference.packets(state.nextPacket()) {
    case .pass: try await deliver(pdu)
    case .lose: break
    case .twice:
      try await deliver(pdu)
      try await deliver(pdu)
    case .late: delayedPacket.withLock { $0 = pdu }
    }
    if let held { try await deliver(held) }
  }

  private func deliver(_ pdu: [UInt8]) async throws(LinkLoss) {
    state.note(pdu)
    try await base.send(pdu)
  }

  func receive() async throws(LinkLoss) -> [UInt8] {
    while true {
      if let pdu = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return pdu }
      let pdu = try await base.receive()
      try cutIfDue()
      state.note(pdu)
      guard pdu.first == 0x1B || pdu.first == 0x1D, pdu.count > 3 else { return pdu }
      let late = delayed.withLock { answer in
        defer { answer = nil }
        return answer
      }
      switch interference.answers(state.nextAnswer()) {
      case .pass: waiting.withLock { $0.append(pdu) }
      case .lose:
        // The stack of the host confirms an indication that its program does not receive.
        if pdu.first == 0x1D { try await base.send([ATTOpcode.handleValueConfirmation.rawValue]) }
      case .twice: waiting.withLock { $0 += [pdu, pdu] }
      // A device sends no further indication until the host has confirmed this one.
      case .late where pdu.first == 0x1D: waiting.withLock { $0.append(pdu) }
      case .late: delayed.withLock { $0 = pdu }
      }
      if let late { waiting.withLock { $0.append(late) } }
    }
  }

  func close() { base.close() }
}

/// Bytes that depend on `seed`.
func body(_ size: Int, seed: UInt64 = 1) -> [UInt8] {
  var random = SeededRandom(seed: seed)
  return random.bytes(count: size)
}

/// An application image with this version and a body of this size.
func application(
  _ size: Int = 20_000, version: String = "1.3.0", chip: UInt16 = 5, seed: UInt64 = 1
) throws -> FirmwareImage {
  try FirmwareImage.decode(
    name: "app.bin",
    bytes: SampleImage.espressif(body(size, seed: seed), version: version, chip: chip))
}
