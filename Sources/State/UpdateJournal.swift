/// The journal of an unfinished update, one small file for each device. The journal is a hint for
/// messages; the device reports the actual resume offset.
public struct UpdateJournal: Sendable {
  /// The description of an update in progress.
  public struct Entry: Codable, Equatable, Sendable {
    /// The identity of the device.
    public let device: String
    /// The image's name.
    public let imageName: String
    /// The size of the image in bytes.
    public let imageSize: Int
    /// The CRC32 of the image, in the form in which it is sent.
    public let imageCRC32: UInt32
    /// The number of contiguous bytes that the device has acknowledged.
    public var acknowledged: Int
    /// The start of the update, in seconds since 1970.
    public let started: Double
    /// The time of the last change, in seconds since 1970.
    public var updated: Double

    /// Creates an entry for an update in progress.
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

  /// The maximum size of a file in bytes.
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
  ///   - device: the identity of the device, as in `Entry.device`.
  ///   - directory: an existing directory (`StateDirectory.create()`).
  public init(device: String, in directory: StateDirectory) {
    self.init(device: device, in: directory, writing: .system)
  }

  init(device: String, in directory: StateDirectory, writing: FileWriting) {
    let path = "\(directory.journalPath)/\(DeviceFileName.escaped(device)).json"
    self.device = device
    json = VersionedJSON(
      file: AtomicFile(path: path, limit: Self.sizeLimit, writing: writing), format: 1)
  }

  /// Returns the entry of an unfinished update; no content if there is no entry.
  public func read() throws(StateFault) -> Recalled<Entry> {
    let page = try json.read()
    let entry = page.content?.update
    // Long ids can share a file name, so an entry of another device is ignored.
    return Recalled(content: entry?.device == device ? entry : nil, setAside: page.setAside)
  }

  /// Replaces the entry. The caller must hold the device's lock. Because every call waits for the
  /// disk, call this function rarely, for example once for each block.
  public func write(_ entry: Entry) throws(StateFault) {
    precondition(entry.device == device, "an entry for \(entry.device) in the journal of \(device)")
    try json.write(Page(update: entry))
  }

  /// Removes the entry after the end of the update.
  public func remove() throws(StateFault) { try json.file.remove() }
}
