import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Synchronization
import Testing

/// A protocol that is defined outside of this package, as in another program. It has a control
/// point that starts, verifies and activates, and a characteristic that accepts bytes in order.
enum Drop {
  static let service: BluetoothUUID = "d0000000-0000-0000-8000-000000000001"
  static let control: BluetoothUUID = "d0000000-0000-0000-8000-000000000002"
  static let data: BluetoothUUID = "d0000000-0000-0000-8000-000000000003"

  enum Operation: UInt8 {
    case begin = 1
    case beginAnew
    case start
    /// The image has only one value: the value, and the size of the image.
    case fill
  }
}

/// The value of the control point.
struct DropState {
  var runningCRC32: UInt32
  /// The CRC32 that the host announced for the held image.
  var wantedCRC32: UInt32
  var held: UInt32
  /// 1 for a device that knows `fill`; 2 for a device that does not identify its running image.
  var features: UInt32

  var encoded: [UInt8] { [runningCRC32, wantedCRC32, held, features].flatMap(littleEndian) }

  init(
    runningCRC32: UInt32, wantedCRC32: UInt32 = 0, held: UInt32 = 0, features: UInt32 = 0
  ) {
    (self.runningCRC32, self.wantedCRC32, self.held) = (runningCRC32, wantedCRC32, held)
    self.features = features
  }

  init?(_ bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    self.init(
      runningCRC32: number(bytes[0..<4]), wantedCRC32: number(bytes[4..<8]),
      held: number(bytes[8..<12]), features: number(bytes[12..<16]))
  }
}

private func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
  bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
}

extension UpdateProtocol {
  static let drop = UpdateProtocol("drop", carrying: "any file")
}

/// The protocol's steps on one connection.
struct DropSession: UpdateSession {
  static let updateProtocol = UpdateProtocol.drop
  static let services = [Drop.service]

  let client: GATTClient
  let context: UpdateContext
  let control: DiscoveredCharacteristic
  let data: DiscoveredCharacteristic
  let state: DropState

  static func takes(_ image: FirmwareImage) -> Bool { true }

  static func open(
    on client: GATTClient, _ context: UpdateContext, _ retained: RetainedState<NothingRetained>
  ) async throws(UpdateFault) -> DropSession {
    do throws(GATTFault) {
      let found = try await client.characteristics([Drop.control, Drop.data], in: Drop.service)
      guard let state = DropState(try await client.read(found[0])) else {
        throw .violation("its state has another length than 16")
      }
      return DropSession(
        client: client, context: context, control: found[0], data: found[1], state: state)
    } catch {
      throw .gatt(.connect, error)
    }
  }

  var device: DeviceReport {
    var report = DeviceReport(.drop, protocolVersion: 1)
    report.runningCRC32 = state.runningCRC32
    return report
  }

  func check(_ image: FirmwareImage) throws(UpdateFault) -> Preflight {
    // The device reports no version, so its image is identified by the checksum.
    if state.runningCRC32 == image.crc32 { return .alreadyCurrent }
    return try Preflight.check(image, against: device, options: context.options)
  }

  func prepare(
    _ plan: UpdatePlan, restart: Bool
  ) async throws(UpdateFault) -> PreparedUpload {
    let image = plan.image
    try await perform(restart ? .beginAnew : .begin, littleEndian(image.crc32), .prepare)
    let held = try await held(.prepare)
    return PreparedUpload(from: held) { () async throws(UpdateFault) in
      try await upload(image.bytes, from: held)
    }
  }

  private func upload(_ image: [UInt8], from held: Int) async throws(UpdateFault) {
    let size = client.mtu - 3
    for start in stride(from: held, to: image.count, by: size) {
      let chunk = image[start..<min(start + size, image.count)]
      do throws(GATTFault) { try await client.write(Array(chunk), to: data) } catch {
        throw .gatt(.upload, error)
      }
      context.sent(chunk.count)
      context.acknowledged(chunk.endIndex, of: image.count)
    }
  }

  func verify(_ image: FirmwareImage) async throws(UpdateFault) -> UpdateVerdict {
    guard try await held(.verify) == image.bytes.count else {
      throw .protocolViolation(.verify, "it accepted all bytes but holds another number of bytes")
    }
    return .verified
  }

  func activate(
    _ images: [FirmwareImage], keeping current: [FirmwareImage]
  ) async throws(UpdateFault) {
    try await perform(.start, [], .activate)
  }

  func running(expecting image: FirmwareImage) async throws(UpdateFault) -> RunningImage {
    if state.features == 2 { return RunningImage(version: nil, agreement: .restarted) }
    return RunningImage(
      version: nil, agreement: state.runningCRC32 == image.crc32 ? .same : .different,
      outcome: .activated)
  }

  private func held(_ stage: UpdateStage) async throws(UpdateFault) -> Int {
    do throws(GATTFault) {
      return Int(DropState(try await client.read(control))?.held ?? 0)
    } catch {
      throw .gatt(stage, error)
    }
  }

  func perform(
    _ operation: Drop.Operation, _ bytes: [UInt8], _ stage: UpdateStage
  ) async throws(UpdateFault) {
    do throws(GATTFault) {
      try await client.write([operation.rawValue] + bytes, to: control)
    } catch .refused(_, let code) {
      throw .declined(
        stage,
        ProtocolRefusal(
          code: "\(code.rawValue)", meaning: "it refuses \(operation)",
          advice: "It must be charged first.", kind: .rejected, remedy: .tryAgain))
    } catch {
      throw .gatt(stage, error)
    }
  }
}

/// The device, which is a server in this program. After an activation, it restarts with the held
/// image when its host has disconnected.
final class DropDevice: Sendable {
  private struct Memory {
    var state: DropState
    var bytes: [UInt8] = []
    var starts = false
    var link: MemoryLink?
    var door: AsyncStream<MemoryLink>.Continuation?
    var cuts: [Int]
  }

  private let memory: Mutex<Memory>
  let server = GATTServer()

  private let boast: UInt32
  private let refusesFill: Bool

  /// - Parameters:
  ///   - cuts: the numbers of held bytes at which the link is lost, each once.
  ///   - boast: the number of bytes that the device reports in addition to the held bytes.
  ///   - features: 1 for a device that supports `fill`; 2 for a device that does not identify its
  ///     running image.
  ///   - refusesFill: whether the device supports `fill` but refuses it.
  init(
    cuts: [Int] = [], boast: UInt32 = 0, features: UInt32 = 0, refusesFill: Bool = false
  ) {
    self.boast = boast
    self.refusesFill = refusesFill
    memory = Mutex(Memory(state: DropState(runningCRC32: 0, features: features), cuts: cuts))
    server.install(
      AttributeTable(services: [
        LocalService(
          Drop.service,
          characteristics: [
            LocalCharacteristic(
              Drop.control, properties: [.read, .write],
              value: .dynamic(
                read: { [unowned self] _ in
                  var state = state
                  state.held += boast
                  return .success(state.encoded)
                },
                write: { [unowned self] bytes, _ in perform(bytes) })),
            LocalCharacteristic(
              Drop.data, properties: [.write],
              value: .written { [unowned self] bytes, _ in take(bytes) }),
          ])
      ]))
  }

  private var state: DropState { memory.withLock { $0.state } }

  private func perform(_ bytes: [UInt8]) -> ATTErrorCode? {
    memory.withLock { memory in
      guard let operation = bytes.first.flatMap(Drop.Operation.init) else { return .invalidPDU }
      switch operation {
      case .begin, .beginAnew:
        let wanted = number(bytes[1...])
        if operation == .beginAnew || memory.state.wantedCRC32 != wanted { memory.bytes = [] }
        memory.state.wantedCRC32 = wanted
      case .start: memory.starts = true
      case .fill where refusesFill: return .requestNotSupported
      case .fill: memory.bytes = Array(repeating: bytes[1], count: Int(number(bytes[2...])))
      }
      memory.state.held = UInt32(memory.bytes.count)
      return nil
    }
  }

  private func take(_ bytes: [UInt8]) -> ATTErrorCode? {
    let lost = memory.withLock { memory -> MemoryLink? in
      memory.bytes += bytes
      memory.state.held = UInt32(memory.bytes.count)
      guard let cut = memory.cuts.first, memory.bytes.count >= cut else { return nil }
      memory.cuts.removeFirst()
      return memory.link
    }
    lost?.loseSupervision()
    return nil
  }

  var dialer: Dialer {
    Dialer { [self] () async throws(ConnectFault) -> any Link in
      let (host, device) = MemoryLink.pair(capacity: 4)
      memory.withLock { _ = $0.door?.yield(device) }
      return host
    }
  }

  /// Creates the stream that receives the device's end of each link that `dialer` opens from now
  /// on. The stream replaces an earlier stream.
  func open() -> AsyncStream<MemoryLink> {
    let (links, door) = AsyncStream.makeStream(of: MemoryLink.self)
    memory.withLock { $0.door = door }
    return links
  }

  func run(_ links: AsyncStream<MemoryLink>, on clock: any LinkClock) async {
    for await link in links {
      memory.withLock { $0.link = link }
      _ = await server.serve(link, clock: clock)
      memory.withLock { memory in
        guard memory.starts else { return }
        memory.starts = false
        memory.state.runningCRC32 = PrefixChecksums(memory.bytes).checksum(
          ofFirst: memory.bytes.count)
      }
    }
  }
}

extension DropDevice {
  struct Run: Sendable {
    let outcome: Result<UpdateResult, UpdateFault>
    let log: EventLog
  }

  func update(
    to image: FirmwareImage,
    by protocols: [any UpdateSession.Type] = UpdateProtocol.all + [DropSession.self],
    _ adjust: (inout UpdateOptions) -> Void = { _ in }
  ) throws -> Run {
    var options = UpdateOptions()
    adjust(&options)
    let log = EventLog()
    let update = FirmwareUpdate(image: image, options: options, protocols: protocols) { event in
      log.note(event)
    }
    return Run(outcome: try perform(update), log: log)
  }

  func perform(_ update: FirmwareUpdate) throws -> Result<UpdateResult, UpdateFault> {
    try VirtualTimeline().run { [self] clock in
      await withTaskGroup(of: Void.self) { group in
        let links = open()
        group.addTask { [self] in await run(links, on: clock) }
        let outcome: Result<UpdateResult, UpdateFault>
        do throws(UpdateFault) {
          outcome = .success(try await update.run(on: dialer, clock: clock))
        } catch {
          outcome = .failure(error)
        }
        group.cancelAll()
        return outcome
      }
    }
  }
}

@Suite struct OwnProtocolTests {
  @Test func theOverviewsUpdateKnowsTheProtocol() throws {
    let image = image(size: 1_000)
    let update = FirmwareUpdate(
      image: image, protocols: UpdateProtocol.all + [DropSession.self])
    #expect(try DropDevice().perform(update).get().isVerified)
  }

  @Test func aCustomProtocolUpdatesADevice() throws {
    let run = try DropDevice().update(to: image(size: 20_000))
    let result = try run.outcome.get()
    #expect(result.outcome == .flashed && result.proof == .readBack)
    #expect(result.bytesSent == 20_000 && result.resumes == 0)
    #expect(run.log.acknowledged == 20_000)
  }

  @Test func anUpdateResumesAtTheDevicesOffsetAfterALostLink() throws {
    let run = try DropDevice(cuts: [5_000, 12_000]).update(to: image(size: 20_000))
    let result = try run.outcome.get()
    #expect(result.isVerified && result.resumes == 2)
    // The last write before each loss arrived, but its response did not, so it is not counted.
    #expect(result.bytesSent >= 20_000 - 2 * 509 && result.bytesSent <= 20_000)
    let beginnings = run.log.all.compactMap { event -> Int? in
      if case .transferBegan(let offset, _, resumed: true) = event { offset } else { nil }
    }
    #expect(beginnings.count == 2 && beginnings[0] >= 5_000 && beginnings[1] >= 12_000)
  }

  @Test func theNextRunResumesAndTheRunAfterItSendsNothing() throws {
    let device = DropDevice(cuts: [5_000])
    let broken = try device.update(to: image(size: 20_000)) { $0.reconnection = .none }
    guard case .failure(.linkLost(_, .upload, resumable: true, _)) = broken.outcome else {
      Issue.record("\(broken.outcome)")
      return
    }
    let second = try device.update(to: image(size: 20_000)).outcome.get()
    #expect(second.isVerified && second.resumes == 1 && second.bytesSent < 15_500)
    let third = try device.update(to: image(size: 20_000)).outcome.get()
    #expect(third.outcome == .alreadyCurrent)
  }

  @Test func anUpdateOfADeviceThatDoesNotIdentifyItsImageIsNotVerified() throws {
    let result = try DropDevice(features: 2).update(to: image(size: 100)).outcome.get()
    #expect(result.outcome == .restarted && result.proof == .restarted && !result.isVerified)
    #expect(result.bytesSent == 100)
  }

  @Test func aDeviceThatReportsTooManyBytesViolatesItsProtocol() throws {
    let run = try DropDevice(boast: 1_000).update(to: image(size: 100))
    #expect(
      run.outcome
        == .failure(.protocolViolation(.prepare, "it reports 1000 of 100 bytes")))
  }

  /// If the host does not know the protocol of the device, the device has no known update service.
  /// If the options require another protocol, the fault lists the protocols of the device.
  @Test func onlyTheSpecifiedProtocolsAreKnown() throws {
    let unknown = try DropDevice().update(to: image(size: 100), by: UpdateProtocol.all)
    #expect(unknown.outcome == .failure(.noUpdateService))
    let other = try DropDevice().update(to: image(size: 100)) { $0.updateProtocol = .smp }
    #expect(other.outcome == .failure(.protocolNotOffered(asked: .smp, offered: [.drop])))
  }
}
