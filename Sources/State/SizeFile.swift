import Glibc
import OtaflashUpdate

/// The sizes of data writes that were found the best over real links, `sizes.json`. Processes that
/// flash devices at the same time change it in turn.
///
/// An entry is a hint: what is older than 90 days is not told any more, and beyond 200 those are
/// forgotten that were kept first.
public struct SizeFile: Sendable {
  /// Entries kept.
  static let capacity = 200
  /// In seconds.
  static let lifetime = 90.0 * 86_400
  /// In bytes: 2 KiB for each entry.
  static let sizeLimit = capacity * 2 * 1024
  private static let format = 1
  private static let deviceMaximum = 200

  private struct Entry: Codable, Equatable {
    let adapter: String
    let device: String
    let mtu: Int
    let phy: String?
    let intervalMicroseconds: Int?
    let chunk: Int
    let rate: Double
    let at: Double

    func isFor(_ setting: SizeMemory.Setting, on adapter: String) -> Bool {
      self.adapter == adapter && device == setting.device && mtu == setting.mtu
        && phy == setting.phy?.rawValue
        && intervalMicroseconds == setting.connectionInterval.map(Self.microseconds)
    }

    static func microseconds(_ time: Duration) -> Int { Int((time / .microseconds(1)).rounded()) }

    var isSound: Bool {
      (1...512).contains(chunk) && rate.isFinite && rate > 0 && KeptTime.isSound(at)
    }
  }

  private struct Page: SoundContent {
    private enum CodingKeys: CodingKey, CaseIterable { case format, sizes }

    var sizes: [Entry] = []
    var others = KeptMembers()

    init() {}

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      sizes = try container.decode([Entry].self, forKey: .sizes)
      others = try KeptMembers(in: decoder, besides: CodingKeys.allCases)
    }

    func encode(to encoder: any Encoder) throws {
      try others.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(SizeFile.format, forKey: .format)
      try container.encode(sizes, forKey: .sizes)
    }

    var isSound: Bool { sizes.allSatisfy(\.isSound) }
  }

  private let json: VersionedJSON<Page>
  private let lockPath: String

  /// - Parameter directory: created before (`StateDirectory.create()`).
  public init(in directory: StateDirectory) {
    json = VersionedJSON(
      file: AtomicFile(path: directory.sizesPath, limit: Self.sizeLimit), format: Self.format)
    lockPath = directory.sizesPath + ".lock"
  }

  /// What was kept for a setting; no content where there is nothing, or it is too old.
  ///
  /// - Parameters:
  ///   - setting: the device and the link.
  ///   - adapter: the name of the host's radio.
  ///   - now: in seconds since 1970.
  public func size(
    for setting: SizeMemory.Setting, on adapter: String, at now: Double
  ) throws(StateFault) -> Recalled<SizeMemory.Size> {
    let turn = try FileTurn(at: lockPath, within: FileTurn.patience)
    defer { extendLifetime(turn) }
    let page = try json.read()
    let entry = page.content?.sizes.last { $0.isFor(setting, on: adapter) }
    let size = entry.flatMap { entry in
      now - entry.at <= Self.lifetime
        ? SizeMemory.Size(chunk: entry.chunk, bytesPerSecond: entry.rate) : nil
    }
    return Recalled(content: size, setAside: page.setAside)
  }

  /// Keeps a size, instead of the one that was kept for the setting before.
  ///
  /// - Returns: where a damaged file was put, when there was one.
  public func keep(
    _ size: SizeMemory.Size, for setting: SizeMemory.Setting, on adapter: String, at now: Double
  ) throws(StateFault) -> String? {
    let entry = Entry(
      adapter: adapter, device: setting.device, mtu: setting.mtu, phy: setting.phy?.rawValue,
      intervalMicroseconds: setting.connectionInterval.map(Entry.microseconds),
      chunk: size.chunk, rate: size.bytesPerSecond, at: now)
    // What a device says of itself may be anything; what nobody could read back is not written.
    guard entry.isSound, setting.device.utf8.count <= Self.deviceMaximum else { return nil }
    let turn = try FileTurn(at: lockPath, within: FileTurn.patience)
    defer { extendLifetime(turn) }
    let read = try json.read()
    var page = read.content ?? Page()
    page.sizes.removeAll { $0.isFor(setting, on: adapter) || now - $0.at > Self.lifetime }
    page.sizes.append(entry)
    page.sizes.removeFirst(max(0, page.sizes.count - Self.capacity))
    try json.write(page)
    return read.setAside
  }
}
