import OtaflashFirmware
import OtaflashGATT
import OtaflashUpdate
import Synchronization

@testable import OtaflashSimulation

/// The faults of a link: the number of the PDU, from 1 and in both directions, that is lost with
/// the link.
final class CutLink: Link {
  final class Counter: Sendable {
    let cutAt: Int?
    private let count = Mutex(0)

    init(cutAt: Int?) { self.cutAt = cutAt }

    var pdus: Int { count.withLock { $0 } }

    func isCut() -> Bool {
      count.withLock { count in
        count += 1
        return count == cutAt
      }
    }
  }

  private let link: any Link
  private let counter: Counter

  init(_ link: any Link, _ counter: Counter) { (self.link, self.counter) = (link, counter) }

  var maximumPDUSize: Int { link.maximumPDUSize }

  func send(_ pdu: [UInt8]) async throws(LinkLoss) {
    try checkCut()
    try await link.send(pdu)
  }

  func receive() async throws(LinkLoss) -> [UInt8] {
    let pdu = try await link.receive()
    try checkCut()
    return pdu
  }

  private func checkCut() throws(LinkLoss) {
    guard counter.isCut() else { return }
    link.close()
    throw .supervisionTimeout
  }

  func close() { link.close() }
}

/// A simulated watch whose flash outlives each run.
struct Watch {
  let profile: SimulationProfile
  let storage: FlashMemory

  /// - Parameter storage: the flash of a watch that was used before; `nil` = a new watch.
  init(_ settings: String = "", storage: FlashMemory? = nil) throws {
    profile = try SimulationProfile(parsing: "infinitime?" + settings)
    self.storage = storage ?? FlashMemory(size: profile.flashSize)
  }

  /// The result of one run.
  struct Run {
    let result: Result<ResourceUpdate.Outcome, UpdateFault>
    let pdus: Int
    let events: [UpdateEvent]
    let elapsed: Duration
  }

  /// Stores a package.
  func store(
    _ package: ResourcePackage, cutAt: Int? = nil, after limit: Duration? = nil,
    _ adjust: (inout UpdateOptions) -> Void = { _ in }
  ) throws -> Run {
    let timeline = VirtualTimeline()
    let board = try SimulatedBoard(profile: profile, storage: storage, clock: timeline.clock)
    let counter = CutLink.Counter(cutAt: cutAt)
    let log = EventLog()
    var options = UpdateOptions()
    adjust(&options)
    let update = ResourceUpdate(package, options: options) { log.note($0) }
    let result = try timeline.run(limit: .seconds(7200)) {
      clock -> Result<ResourceUpdate.Outcome, UpdateFault> in
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await board.run() }
        defer { group.cancelAll() }
        let dialer = Dialer(at: { (place) async throws(ConnectFault) -> any Link in
          CutLink(try await board.dial(at: place), counter)
        })
        return await outcome(before: limit, on: clock) { () async throws(UpdateFault) in
          try await update.run(on: dialer, clock: clock)
        }
      }
    }
    return Run(
      result: result, pdus: counter.pdus, events: log.all, elapsed: timeline.clock.now.elapsed)
  }

  /// The files of the watch, read from its flash without the host's code.
  func files() throws -> [String: [UInt8]] {
    let system = try fileSystem()
    return try Self.files(in: "", of: system)
  }

  /// Writes a file into the flash of the watch.
  func put(_ bytes: [UInt8], at path: String) throws {
    var system = try fileSystem()
    let flash = try flash()
    let parts = path.split(separator: "/").dropLast()
    for count in parts.indices {
      let directory = parts.prefix(count + 1).map { "/" + $0 }.joined()
      if try system.list("/").contains(where: { "/" + $0.name == directory }) { continue }
      for operation in try system.makeDirectory(directory) { try flash.perform(operation) }
    }
    for operation in try system.write(bytes, to: path, at: 0) { try flash.perform(operation) }
  }

  private static func files(
    in directory: String, of system: WatchFileSystem
  ) throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for (name, entry) in try system.list(directory + "/") where name != "." && name != ".." {
      let path = directory + "/" + name
      switch entry {
      case .file(let size): files[path] = try system.read(path, from: 0, atMost: size)
      case .directory: files.merge(try Self.files(in: path, of: system)) { $1 }
      }
    }
    return files
  }

  private func flash() throws -> SimulatedFlash {
    var geometry = profile.settings.geometry(size: profile.flashSize)
    geometry.pageSize = profile.device.flashPageSize
    return try SimulatedFlash(
      geometry: geometry, medium: storage, random: SeededRandom(seed: 1))
  }

  private func fileSystem() throws -> WatchFileSystem {
    let start = profile.settings.layout.size
    let pages = (profile.flashSize - start) / BoardSettings.pageSize
    return WatchFileSystem(try FlashDataStore(in: flash(), at: start, pages: pages))
  }
}

/// A package of resources with three files and one obsolete file.
func resources(seed: UInt64 = 1, sizes: [Int] = [1_500, 300, 2_000]) -> ResourcePackage {
  let paths = ["/fonts/teko.bin", "/logo.bin", "/images/faces/casio.bin"]
  let files = zip(paths, sizes).enumerated().map { index, pair in
    ResourcePackage.File(
      name: "\(index).bin", path: pair.0, bytes: firmware(pair.1, seed: seed + UInt64(index)))
  }
  return ResourcePackage(
    name: "resources.zip", files: files,
    obsoleteFiles: [.init(path: "/old.bin", since: FirmwareVersion(1, 1, 0))])
}

extension ResourcePackage {
  var content: [String: [UInt8]] {
    Dictionary(uniqueKeysWithValues: files.map { ($0.path, $0.bytes) })
  }
}
