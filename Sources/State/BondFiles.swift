import Glibc
import OtaflashBlueZ

/// The stored form of a bond.
private struct BondRecord: Codable, Sendable {
  private enum Member: String, CodingKey {
    case adapter, at
  }

  /// The address of the adapter, which is stored because keys belong to a pair of devices.
  let adapter: String
  /// The time of the pairing in seconds since 1970.
  let at: Double
  let bond: Bond

  init(_ bond: Bond, adapter: BluetoothAddress, at: Double) {
    self.bond = bond
    self.adapter = "\(adapter)"
    self.at = at
  }

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Member.self)
    adapter = try members.decode(String.self, forKey: .adapter)
    at = try members.decode(Double.self, forKey: .at)
    bond = try Bond(from: decoder)
  }

  func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: Member.self)
    try members.encode(adapter, forKey: .adapter)
    try members.encode(at, forKey: .at)
    try bond.encode(to: encoder)
  }
}

/// The bonds of this host, in one file for each bond, which only the owner can read. Each bond is
/// written and removed separately, so processes that pair different devices do not conflict with
/// each other.
public struct BondFiles: BondStore {
  /// The maximum number of bonds to read; the kernel accepts about 1800 keys.
  public static let capacity = 512
  /// The maximum size of a file in bytes.
  static let sizeLimit = 16 * 1024
  private static let suffix = ".json"

  private struct Page: SoundContent {
    var format = 1
    let bond: BondRecord

    var isSound: Bool { KeptTime.isSound(bond.at) }
  }

  private let folder: String
  private let writing: FileWriting
  private let now: @Sendable () -> Double
  private let tellSetAside: @Sendable (String) -> Void

  /// - Parameters:
  ///   - directory: an existing directory (`StateDirectory.create()`).
  ///   - tellSetAside: receives the new path of a damaged file.
  public init(
    in directory: StateDirectory, tellSetAside: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.init(in: directory, writing: .system, now: Self.secondsSince1970, tellSetAside)
  }

  init(
    in directory: StateDirectory, writing: FileWriting, now: @escaping @Sendable () -> Double,
    _ tellSetAside: @escaping @Sendable (String) -> Void
  ) {
    folder = directory.bondsPath
    self.writing = writing
    self.now = now
    self.tellSetAside = tellSetAside
  }

  /// Returns the bonds of an adapter.
  public func bonds(of adapter: BluetoothAddress) throws(StateFault) -> [Bond] {
    var bonds: [Bond] = []
    for name in try FolderNames.read(folder, suffix: Self.suffix, atMost: Self.capacity) {
      let page = try json(name).read()
      if let path = page.setAside { tellSetAside(path) }
      if let record = page.content?.bond, record.adapter == "\(adapter)" {
        bonds.append(record.bond)
      }
    }
    return bonds
  }

  /// Stores a bond, in place of an older bond of the same two devices.
  public func keep(_ bond: Bond, of adapter: BluetoothAddress) throws(StateFault) {
    try json(Self.name(bond.device, adapter)).write(
      Page(bond: BondRecord(bond, adapter: adapter, at: now())))
  }

  /// Removes a bond; returns `false` if the bond does not exist.
  public func forget(
    _ device: BluetoothAddress, of adapter: BluetoothAddress
  ) throws(StateFault) -> Bool {
    let file = json(Self.name(device, adapter)).file
    guard try file.read() != nil else { return false }
    try file.remove()
    return true
  }

  private static func name(_ device: BluetoothAddress, _ adapter: BluetoothAddress) -> String {
    DeviceFileName.escaped("\(device) \(adapter)") + suffix
  }

  private static func secondsSince1970() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private func json(_ name: String) -> VersionedJSON<Page> {
    VersionedJSON(
      file: AtomicFile(path: "\(folder)/\(name)", limit: Self.sizeLimit, writing: writing),
      format: 1)
  }
}
