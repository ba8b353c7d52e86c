import Glibc

/// The device registry on disk, `devices.json`. Processes that flash other devices at the same time
/// change it in turn, so nothing of theirs is lost.
public struct RegistryFile: Sendable {
  /// In bytes: 16 KiB for each device the registry can hold.
  static let sizeLimit = DeviceRegistry.capacity * 16 * 1024

  private struct Page: Codable, Sendable {
    var format = 1
    let devices: [DeviceRecord]
  }

  private let json: VersionedJSON<Page>
  private let lockPath: String

  /// - Parameter directory: created before (`StateDirectory.create()`).
  public init(in directory: StateDirectory) { self.init(in: directory, writing: .system) }

  init(in directory: StateDirectory, writing: FileWriting) {
    let file = AtomicFile(
      path: directory.registryPath, limit: Self.sizeLimit, writing: writing)
    json = VersionedJSON(file: file, format: 1)
    lockPath = directory.registryPath + ".lock"
  }

  /// The registry, empty when there is none yet.
  public func load() throws(StateFault) -> Recalled<DeviceRegistry> {
    let turn = try waitForTurn()
    defer { extendLifetime(turn) }
    return try read()
  }

  /// Reads, changes and writes the registry as one step.
  /// - Returns: where a damaged registry was put, when there was one.
  public func update(_ change: (inout DeviceRegistry) -> Void) throws(StateFault) -> String? {
    let turn = try waitForTurn()
    defer { extendLifetime(turn) }
    let recalled = try read()
    var registry = recalled.content ?? DeviceRegistry()
    change(&registry)
    if registry != recalled.content { try json.write(Page(devices: registry.records)) }
    return recalled.setAside
  }

  private func read() throws(StateFault) -> Recalled<DeviceRegistry> {
    let page = try json.read()
    return Recalled(
      content: page.content.map { DeviceRegistry($0.devices) }, setAside: page.setAside)
  }

  /// Others hold the lock only while they read and write one small file, so waiting is short.
  private func waitForTurn() throws(StateFault) -> FileDescriptor {
    let file = try FileDescriptor(opening: lockPath, O_RDWR | O_CREAT | O_NOFOLLOW, as: .lock)
    let number = file.number
    do throws(FileErrno.Failure) {
      _ = try FileErrno.checked { flock(number, LOCK_EX) }
    } catch {
      throw StateFault(.lock, path: lockPath, error.errno)
    }
    return file
  }
}
