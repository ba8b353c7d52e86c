import Glibc

/// The keys of a pairing on disk. Numbers of 8 and 16 octets are hexadecimal, as they are kept in
/// memory: least significant octet first.
public struct BondRecord: Codable, Equatable, Sendable {
  public struct Key: Codable, Equatable, Sendable {
    /// How the key came to be; the words are those of the caller.
    public var kind: String
    public var isForCentral: Bool
    /// Octets of the value that count.
    public var size: Int
    public var diversifier: UInt16
    public var random: String
    public var value: String

    public init(
      kind: String, isForCentral: Bool, size: Int, diversifier: UInt16, random: String,
      value: String
    ) {
      self.kind = kind
      self.isForCentral = isForCentral
      self.size = size
      self.diversifier = diversifier
      self.random = random
      self.value = value
    }
  }

  /// The adapter's own address: keys belong to a pair of devices.
  public let adapter: String
  /// The device's identity address.
  public let device: String
  public var longTermKeys: [Key]
  public var identityResolvingKey: String?
  /// Seconds since 1970.
  public var at: Double

  public init(
    adapter: String, device: String, longTermKeys: [Key], identityResolvingKey: String?, at: Double
  ) {
    self.adapter = adapter
    self.device = device
    self.longTermKeys = longTermKeys
    self.identityResolvingKey = identityResolvingKey
    self.at = at
  }
}

/// The pairings made from here, one file each, which only their owner may read. A pairing is written
/// and forgotten as a whole, so processes that pair different devices do not meet.
public struct BondStore: Sendable {
  /// Pairings read at most; the kernel takes about 1800 keys.
  public static let capacity = 512
  /// In bytes, for one file.
  static let sizeLimit = 16 * 1024
  private static let suffix = ".json"

  private struct Page: Codable, Sendable {
    var format = 1
    let bond: BondRecord
  }

  private let folder: String
  private let writing: FileWriting

  /// - Parameter directory: created before (`StateDirectory.create()`).
  public init(in directory: StateDirectory) { self.init(in: directory, writing: .system) }

  init(in directory: StateDirectory, writing: FileWriting) {
    folder = directory.bondsPath
    self.writing = writing
  }

  /// The pairings of an adapter, by its own address. Damaged files are set aside; their new paths
  /// are returned too.
  public func bonds(
    of adapter: String
  ) throws(StateFault) -> (bonds: [BondRecord], setAside: [String]) {
    var bonds: [BondRecord] = []
    var setAside: [String] = []
    for name in try names() {
      let page = try json(name).read()
      if let path = page.setAside { setAside.append(path) }
      if let bond = page.content?.bond, bond.adapter == adapter { bonds.append(bond) }
    }
    return (bonds, setAside)
  }

  /// Writes a pairing over an older one of the same two devices.
  public func keep(_ bond: BondRecord) throws(StateFault) {
    try json(Self.name(bond.device, bond.adapter)).write(Page(bond: bond))
  }

  /// `false` when there was none.
  public func forget(_ device: String, of adapter: String) throws(StateFault) -> Bool {
    let file = json(Self.name(device, adapter)).file
    guard try file.read() != nil else { return false }
    try file.remove()
    return true
  }

  private static func name(_ device: String, _ adapter: String) -> String {
    DeviceFileName.escaped("\(device) \(adapter)") + suffix
  }

  private func json(_ name: String) -> VersionedJSON<Page> {
    VersionedJSON(
      file: AtomicFile(path: "\(folder)/\(name)", limit: Self.sizeLimit, writing: writing),
      format: 1)
  }

  /// The files' names, in order.
  private func names() throws(StateFault) -> [String] {
    guard let directory = opendir(folder) else {
      let errno = FileErrno.current
      if errno == .noEntry { return [] }
      throw StateFault(.read, path: folder, errno)
    }
    defer { closedir(directory) }
    var names: [String] = []
    while names.count < Self.capacity, let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
      }
      if name.hasSuffix(Self.suffix) { names.append(name) }
    }
    return names.sorted()
  }
}
