import OtaflashATT
import OtaflashDelta
import OtaflashFirmware
import OtaflashGATT
import Synchronization

@testable import OtaflashUpdate

/// A device with the OTA service and patches (docs/ota-service.md, 13). The device is in memory, so
/// that operations take no time, and records all requests. A script changes its behavior.
final class PatchDevice: Sendable {
  struct Script: Sendable {
    var takesPatches = true
    /// Whether PATCH INFO reports the running image; otherwise it reports 0 and 0.
    var tellsBase = true
    /// Whether RUNNING reports the initial image; otherwise it reports 0 and 0.
    var namesRunning = true
    /// Whether PATCH finds a running image other than the one that PATCH INFO reported.
    var runsAnother = false
    /// The number of bytes after which the device refuses the stream.
    var refusesAt: Int?
    /// The reason in its Status.
    var refusal = OTAStatus.Note.patchRefused
    /// Whether the notification reports late data, so that only a read of Status returns the
    /// reason.
    var tellsLateData = false
    /// The opcodes of the requests that the device answers only with a result, with this result.
    var declines: [UInt8: UInt8] = [:]
    /// Whether the device creates another image from a stream.
    var spoils = false
    /// The numbers of held bytes at which the link is lost, each once.
    var cuts: [Int] = []
    /// Whether the device restarts at each lost link, so that it holds no data of a stream with one
    /// part.
    var restarts = false
  }

  fileprivate struct Session {
    let begin: [UInt8]
    let patch: OTAPatch?
    var held: [UInt8] = []

    var imageSize: Int { Int(number(begin[2..<6])) }
    var imageCRC32: UInt32 { number(begin[6..<10]) }
  }

  fileprivate struct Memory {
    var script: Script
    var running: [UInt8]
    var version: [UInt8] = [1, 2, 0, 0]
    var announced: OTAPatch?
    var session: Session?
    var made: [UInt8]?
    var note = OTAStatus.Note.none
    var requests: [[UInt8]] = []
    var dataBytes = 0
    var starts = false
    var link: MemoryLink?
    var door: AsyncStream<MemoryLink>.Continuation?
  }

  static let pageSize = 1024
  fileprivate static let window = 4096

  private let memory: Mutex<Memory>
  private let server = GATTServer()
  private let control: AttributeHandle
  private let status: AttributeHandle

  init(running: [UInt8], _ script: Script = Script()) {
    memory = Mutex(Memory(script: script, running: running))
    // The table's handlers refer to the device, and the device to its handles.
    let box = Box()
    let table = AttributeTable(services: [
      LocalService(
        OTAService.service,
        characteristics: [
          LocalCharacteristic(
            OTAService.control, properties: [.write, .indicate],
            value: .written { bytes, _ in box.device?.perform(bytes) }),
          LocalCharacteristic(
            OTAService.data, properties: [.write],
            value: .written { bytes, _ in box.device?.take(bytes) }),
          LocalCharacteristic(
            OTAService.status, properties: [.read, .notify],
            value: .dynamic(
              read: { _ in .success(box.device?.reported ?? []) }, write: { _, _ in nil })),
        ])
    ])
    control = table.handle(of: OTAService.control)
    status = table.handle(of: OTAService.status)
    server.install(table)
    box.fill(with: self)
  }

  var running: [UInt8] { memory.withLock { $0.running } }
  /// The requests that were written to Control, over all connections.
  var requests: [[UInt8]] { memory.withLock { $0.requests } }
  /// The opcodes of `requests`.
  var opcodes: [UInt8] { requests.map { $0[0] } }
  /// The number of received data bytes of any kind.
  var dataBytes: Int { memory.withLock { $0.dataBytes } }

  private var reported: [UInt8] { memory.withLock { $0.status }.encoded }

  private var notified: [UInt8] {
    memory.withLock { memory in
      var status = memory.status
      let isLate = memory.script.tellsLateData && status.note == memory.script.refusal
      if isLate { status.note = .noSession }
      return status
    }.encoded
  }

  private func perform(_ request: [UInt8]) -> ATTErrorCode? {
    let answer = memory.withLock { memory in
      memory.requests.append(request)
      return memory.answer(request)
    }
    server.indicate(control, [request[0] | 0x80] + answer)
    return nil
  }

  private func take(_ bytes: [UInt8]) -> ATTErrorCode? {
    let (refusal, lost) = memory.withLock { memory -> (ATTErrorCode?, MemoryLink?) in
      guard var session = memory.session, memory.made == nil else {
        return (OTAService.noSession, nil)
      }
      guard number(bytes[0..<4]) == UInt32(session.held.count) else {
        return (OTAService.wrongOffset, nil)
      }
      session.held += bytes[4...]
      memory.dataBytes += bytes.count - 4
      memory.session = session
      if let limit = memory.script.refusesAt, session.patch != nil, session.held.count >= limit {
        memory.session = nil
        memory.note = memory.script.refusal
      }
      guard let cut = memory.script.cuts.first, session.held.count >= cut else { return (nil, nil) }
      memory.script.cuts.removeFirst()
      if memory.script.restarts { memory.session?.held = [] }
      return (nil, memory.link)
    }
    if refusal == nil { server.notify(status, notified) }
    lost?.loseSupervision()
    return refusal
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
        memory.announced = nil
        guard memory.starts, let made = memory.made, let session = memory.session else { return }
        memory.starts = false
        memory.running = made
        memory.script.namesRunning = true
        memory.version = Array(session.begin[10..<14])
        (memory.session, memory.made) = (nil, nil)
      }
    }
  }

  private final class Box: Sendable {
    private let held = Mutex<PatchDevice?>(nil)
    var device: PatchDevice? { held.withLock { $0 } }
    func fill(with device: PatchDevice) { held.withLock { $0 = device } }
  }
}

/// The device's state, and its answer to each request: the result, and the payload.
extension PatchDevice.Memory {
  fileprivate var status: OTAStatus {
    guard let session else {
      return OTAStatus(
        state: .idle, note: note, window: 0, nextOffset: 0, crc32: 0, durableOffset: 0)
    }
    return OTAStatus(
      state: made == nil ? .receiving : .verified, note: note,
      window: made == nil ? PatchDevice.window : 0, nextOffset: session.held.count,
      crc32: CRC32.checksum(session.held), durableOffset: session.held.count)
  }

  fileprivate var base: [UInt8] {
    littleEndian(UInt32(running.count)) + littleEndian(CRC32.checksum(running))
  }

  fileprivate mutating func answer(_ request: [UInt8]) -> [UInt8] {
    if let result = script.declines[request[0]] { return [result] }
    switch request[0] {
    case 0x01: return info
    case 0x02:
      let named = script.namesRunning ? base : [UInt8](repeating: 0, count: 8)
      return [0] + version + named + [0, 0]
    case 0x03: return [0] + held(isPatch: false)
    case 0x06: return begin(request)
    case 0x08: return verify()
    case 0x09:
      starts = true
      return [0]
    case 0x0B:
      return [0]
    case 0x0D where script.takesPatches:
      let reported = script.tellsBase ? base : [UInt8](repeating: 0, count: 8)
      return [0, 2, 0x15, 0, 10, 10] + littleEndian(UInt32(PatchDevice.pageSize)) + reported
        + [0]
    case 0x0E where script.takesPatches: return announce(request)
    case 0x0F where script.takesPatches: return [0] + held(isPatch: true)
    default: return [1]
    }
  }

  private var info: [UInt8] {
    [0, 1, script.takesPatches ? 0x18 : 0] + littleEndian(0xA001) + littleEndian(0x40000)
      + littleEndian(UInt32(PatchDevice.pageSize)) + [100, 0, 0, 0x10]
  }

  private func held(isPatch: Bool) -> [UInt8] {
    let nothing = [UInt8](repeating: 0, count: 16)
    guard let session, (session.patch != nil) == isPatch else { return nothing }
    let next = littleEndian(UInt32(session.held.count))
    if let patch = session.patch {
      return littleEndian(UInt32(patch.streamSize)) + littleEndian(patch.streamCRC32) + next
        + littleEndian(0)
    }
    return littleEndian(UInt32(session.imageSize)) + littleEndian(session.imageCRC32) + next
      + littleEndian(CRC32.checksum(session.held))
  }

  private mutating func announce(_ request: [UInt8]) -> [UInt8] {
    let patch = OTAPatch(
      base: OTABase(size: Int(number(request[1..<5])), crc32: number(request[5..<9])),
      streamSize: Int(number(request[9..<13])), streamCRC32: number(request[13..<17]))
    announced = nil
    let isBase = Array(request[1..<9]) == base && !script.runsAnother
    guard patch.base == .empty || isBase else { return [0x0F] + littleEndian(64) + base[4...] }
    announced = patch
    return [0]
  }

  private mutating func begin(_ request: [UInt8]) -> [UInt8] {
    let isPatch = request[1] & 0x10 != 0
    if isPatch, announced == nil { return [3] }
    let patch = isPatch ? announced : nil
    announced = nil
    let isSame = session?.begin[2...] == request[2...] && session?.patch == patch
    if !isSame || request[1] & 1 != 0 {
      session = PatchDevice.Session(begin: request, patch: patch)
    }
    (made, note) = (nil, .none)
    let held = session?.held ?? []
    return [0] + littleEndian(UInt32(held.count)) + littleEndian(CRC32.checksum(held))
  }

  private mutating func verify() -> [UInt8] {
    guard let session else { return [3] }
    var image = session.held
    if let patch = session.patch {
      guard session.held.count == patch.streamSize else { return [3] }
      do throws(PatchFault) {
        image = try PatchParts.apply(
          session.held, to: patch.base == .empty ? [] : running, imageSize: session.imageSize,
          pageSize: PatchDevice.pageSize
        ).image
      } catch {
        self.session = nil
        note = .patchRefused
        return [3]
      }
      if script.spoils { image[0] ^= 1 }
    }
    let found = CRC32.checksum(image)
    guard found == session.imageCRC32 else {
      self.session = nil
      return [8] + littleEndian(found)
    }
    made = image
    return [0] + littleEndian(found)
  }
}

func littleEndian(_ number: UInt32) -> [UInt8] {
  (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
}

private func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
  bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
}
