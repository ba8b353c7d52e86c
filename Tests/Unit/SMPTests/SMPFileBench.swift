import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import OtaflashWire
import Synchronization

/// Faults of a link, which start at its first PDU.
struct LinkFaults: Sendable {
  /// The number, from 1 and in both directions, of the PDU at which the link ends. This PDU is
  /// lost.
  var cutAfter: Int?
  /// The probabilities that a written PDU is lost or written twice.
  var lossShare = 0.0
  var repeatShare = 0.0
  var seed: UInt64 = 0
}

/// A link with faults. Several links share the count of PDUs, so that only one link is cut.
final class FaultyTestLink: Link {
  final class State: Sendable {
    let faults: LinkFaults
    private let state: Mutex<(pdus: Int, random: SeededRandom)>

    init(_ faults: LinkFaults) {
      self.faults = faults
      state = Mutex((0, SeededRandom(seed: faults.seed)))
    }

    var pdus: Int { state.withLock { $0.pdus } }

    /// Counts a PDU; returns whether the link ends at this PDU.
    func isCut() -> Bool {
      state.withLock { state in
        state.pdus += 1
        return state.pdus == faults.cutAfter
      }
    }

    /// Returns the number of times that a written PDU arrives.
    func copies() -> Int {
      state.withLock { state in
        let drawn = Double.random(in: 0..<1, using: &state.random)
        if drawn < faults.lossShare { return 0 }
        return drawn < faults.lossShare + faults.repeatShare ? 2 : 1
      }
    }
  }

  private static let writeCommand: UInt8 = 0x52
  private let link: any Link
  private let state: State

  init(_ link: any Link, _ state: State) {
    self.link = link
    self.state = state
  }

  var maximumPDUSize: Int { link.maximumPDUSize }

  func send(_ pdu: [UInt8]) async throws(LinkLoss) {
    if state.isCut() {
      link.close()
      throw .supervisionTimeout
    }
    let copies = pdu.first == Self.writeCommand ? state.copies() : 1
    for _ in 0..<copies { try await link.send(pdu) }
  }

  func receive() async throws(LinkLoss) -> [UInt8] {
    let pdu = try await link.receive()
    guard !state.isCut() else {
      link.close()
      throw .supervisionTimeout
    }
    return pdu
  }

  func close() { link.close() }
}

/// Performs an exchange with a simulated device in virtual time.
///
/// - Parameter storage: the flash, which survives the device.
func onBoard<Value: Sendable>(
  _ settings: String, on storage: FlashMemory? = nil, faults: LinkFaults = LinkFaults(),
  _ body: @escaping @Sendable (Dialer, VirtualClock) async throws(UpdateFault) -> Value
) throws -> (result: Result<Value, UpdateFault>, pdus: Int, flashFaults: [FlashFault]) {
  let timeline = VirtualTimeline()
  let profile = try SimulationProfile(parsing: "smp?" + settings)
  let board = try SimulatedBoard(
    profile: profile, storage: storage ?? FlashMemory(size: profile.flashSize),
    clock: timeline.clock)
  let state = FaultyTestLink.State(faults)
  let result = try timeline.run(limit: .seconds(7_200)) { clock -> Result<Value, UpdateFault> in
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await board.run() }
      defer { group.cancelAll() }
      let dialer = Dialer(at: { (place) async throws(ConnectFault) -> any Link in
        FaultyTestLink(try await board.dial(at: place), state)
      })
      do throws(UpdateFault) {
        let value = try await body(dialer, clock)
        // During this time, the device stores a file that is still open.
        _ = await clock.pause(for: .seconds(3))
        return .success(value)
      } catch {
        _ = await clock.pause(for: .seconds(3))
        return .failure(error)
      }
    }
  }
  return (result, state.pdus, board.flashFaults)
}

/// Returns empty flash of the size that a device with these settings has.
func boardFlash(_ settings: String) throws -> FlashMemory {
  FlashMemory(size: try SimulationProfile(parsing: "smp?" + settings).flashSize)
}

func randomBytes(_ count: Int, seed: UInt64 = 7) -> [UInt8] {
  var random = SeededRandom(seed: seed)
  return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
}

/// Puts a file, without or with new connections after a lost link.
func put(
  _ bytes: [UInt8], to path: String = "/lfs1/file", onto settings: String,
  on storage: FlashMemory? = nil, faults: LinkFaults = LinkFaults(), reconnects: Bool = true,
  sendsAnyway: Bool = false
) throws -> (result: Result<SMPFilePut.Outcome, UpdateFault>, pdus: Int) {
  var options = UpdateOptions()
  if !reconnects { options.reconnection = .none }
  let put = SMPFilePut(bytes, to: path, sendsAnyway: sendsAnyway, options: options)
  let run = try onBoard(settings, on: storage, faults: faults) {
    (dialer, clock) async throws(UpdateFault) in try await put.run(on: dialer, clock: clock)
  }
  return (run.result, run.pdus)
}

func get(
  _ path: String = "/lfs1/file", from settings: String, on storage: FlashMemory? = nil,
  faults: LinkFaults = LinkFaults(), reconnects: Bool = true
) throws -> (result: Result<SMPFileGet.Outcome, UpdateFault>, pdus: Int) {
  var options = UpdateOptions()
  if !reconnects { options.reconnection = .none }
  let get = SMPFileGet(path, options: options)
  let run = try onBoard(settings, on: storage, faults: faults) {
    (dialer, clock) async throws(UpdateFault) in try await get.run(on: dialer, clock: clock)
  }
  return (run.result, run.pdus)
}

extension FlashMemory {
  func copy() -> FlashMemory {
    let copy = FlashMemory(size: size)
    copy.write(read(0..<size), at: 0)
    return copy
  }
}
