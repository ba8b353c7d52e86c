import Glibc
import OtaflashGATT

/// The device registry on disk, `devices.json`. Concurrent processes change the file one at a time,
/// so no change is lost.
///
/// As `KnownDevices`, this type provides the devices that were connected. A damaged registry is
/// renamed, and the next change creates a new registry. `load` and `update` return the new path of
/// the damaged file.
public struct RegistryFile: Sendable {
  /// The maximum size in bytes: 4 KiB for each device of a full registry.
  static let sizeLimit = (DeviceRegistry.capacity + DeviceRegistry.connectedCapacity) * 4 * 1024

  private struct Page: SoundContent {
    private enum CodingKeys: CodingKey, CaseIterable { case format, devices }

    let devices: [DeviceRecord]
    var others = KeptMembers()

    init(devices: [DeviceRecord], others: KeptMembers) {
      self.devices = devices
      self.others = others
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      devices = try container.decode([DeviceRecord].self, forKey: .devices)
      others = try KeptMembers(in: decoder, besides: CodingKeys.allCases)
    }

    func encode(to encoder: any Encoder) throws {
      try others.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(RegistryFile.format, forKey: .format)
      try container.encode(devices, forKey: .devices)
    }

    var isSound: Bool { devices.allSatisfy(\.isSound) }
  }

  private static let format = 1

  private let json: VersionedJSON<Page>
  private let lockPath: String
  private let patience: FileTurn.Patience

  /// - Parameter directory: an existing directory (`StateDirectory.create()`).
  public init(in directory: StateDirectory) { self.init(in: directory, writing: .system) }

  init(
    in directory: StateDirectory, writing: FileWriting,
    patience: FileTurn.Patience = FileTurn.patience
  ) {
    self.patience = patience
    let file = AtomicFile(
      path: directory.registryPath, limit: Self.sizeLimit, writing: writing)
    json = VersionedJSON(file: file, format: Self.format)
    lockPath = directory.registryPath + ".lock"
  }

  /// Returns the registry; no content if the file does not exist or was damaged.
  public func load() throws(StateFault) -> Recalled<DeviceRegistry> {
    let turn = try readingTurn()
    defer { extendLifetime(turn) }
    let page = try json.read()
    return Recalled(
      content: page.content.map { DeviceRegistry($0.devices) }, setAside: page.setAside)
  }

  /// Returns the lock for reading; `nil` if no lock file can be created. In this case no process
  /// can write, and the file is complete because it is always replaced atomically.
  private func readingTurn() throws(StateFault) -> FileTurn? {
    do throws(StateFault) { return try FileTurn(at: lockPath, within: patience) } catch {
      switch error {
      case .permissionDenied, .system(.lock, _, .noEntry): return nil
      default: throw error
      }
    }
  }

  /// Reads, changes and writes the registry in one locked operation.
  ///
  /// - Returns: the new path of a damaged registry if the registry was damaged.
  public func update(_ change: (inout DeviceRegistry) -> Void) throws(StateFault) -> String? {
    let turn = try FileTurn(at: lockPath, within: patience)
    defer { extendLifetime(turn) }
    let page = try json.read()
    let former = page.content.map { DeviceRegistry($0.devices) }
    var registry = former ?? DeviceRegistry()
    change(&registry)
    if registry != former {
      try json.write(
        Page(devices: registry.records, others: page.content?.others ?? KeptMembers()))
    }
    return page.setAside
  }
}

extension RegistryFile: KnownDevices {
  public func remember(_ id: Advertisement.ID, name: String?) throws(StateFault) {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let now = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    _ = try update { $0.connected(id, name: name, address: nil, at: now) }
  }

  public func devices() throws(StateFault) -> [KnownDevice] {
    let records = try load().content?.records ?? []
    return records.filter { $0.lastConnected != nil }.map {
      KnownDevice(id: $0.id, name: $0.name, lastConnected: $0.lastConnected)
    }
  }

  public func forget(_ id: Advertisement.ID) throws(StateFault) {
    _ = try update { $0.forget(id) }
  }
}
