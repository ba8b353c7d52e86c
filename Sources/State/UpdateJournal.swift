/// A note of an unfinished update, one small file a device. It is a hint for people and for the
/// text that says how to go on; where a transfer really goes on, the device says.
public struct UpdateJournal: Sendable {
  /// What is noted of an update.
  public struct Entry: Codable, Equatable, Sendable {
    /// The device's name.
    public let device: String
    /// The image's name.
    public let imageName: String
    /// In bytes.
    public let imageSize: Int
    /// Of the image as it is sent.
    public let imageCRC32: UInt32
    /// Bytes that the device has acknowledged in order.
    public var acknowledged: Int
    /// Seconds since 1970.
    public let started: Double
    /// Seconds since 1970.
    public var updated: Double

    /// A note of an update that goes on.
    public init(
      device: String, imageName: String, imageSize: Int, imageCRC32: UInt32, acknowledged: Int,
      started: Double, updated: Double
    ) {
      self.device = device
      self.imageName = imageName
      self.imageSize = imageSize
      self.imageCRC32 = imageCRC32
      self.acknowledged = acknowledged
      self.started = started
      self.updated = updated
    }
  }

  /// In bytes, for one device's file.
  static let sizeLimit = 64 * 1024

  private struct Page: SoundContent {
    var format = 1
    let update: Entry

    var isSound: Bool {
      update.imageSize >= 0 && update.acknowledged >= 0
        && [update.started, update.updated].allSatisfy(KeptTime.isSound)
    }
  }

  private let device: String
  private let json: VersionedJSON<Page>

  /// - Parameters:
  ///   - device: the name under which the device is locked.
  ///   - directory: created before (`StateDirectory.create()`).
  public init(device: String, in directory: StateDirectory) {
    self.init(device: device, in: directory, writing: .system)
  }

  init(device: String, in directory: StateDirectory, writing: FileWriting) {
    let path = "\(directory.journalPath)/\(DeviceFileName.escaped(device)).json"
    self.device = device
    json = VersionedJSON(
      file: AtomicFile(path: path, limit: Self.sizeLimit, writing: writing), format: 1)
  }

  /// The entry of an update that did not end, if any.
  public func read() throws(StateFault) -> Recalled<Entry> {
    let page = try json.read()
    let entry = page.content?.update
    // Long ids can share a file name; another device's entry tells nothing of this one.
    return Recalled(content: entry?.device == device ? entry : nil, setAside: page.setAside)
  }

  /// Replaces the entry. The caller holds the device's lock and writes seldom, such as once for
  /// each block: every call waits for the disk.
  public func write(_ entry: Entry) throws(StateFault) {
    precondition(entry.device == device, "an entry for \(entry.device) in the journal of \(device)")
    try json.write(Page(update: entry))
  }

  /// The update has ended.
  public func remove() throws(StateFault) { try json.file.remove() }
}
