import OtaflashFirmware

/// The devices that this host has seen or flashed.
public struct DeviceRegistry: Equatable, Sendable {
  /// The maximum number of devices that were never connected. If more devices are recorded, the
  /// devices whose last advertisement is the oldest are dropped.
  public static let capacity = 1000
  /// The maximum number of devices that were connected.
  static let connectedCapacity = 50_000

  private var known: [String: DeviceRecord]

  /// Creates a registry. If two records have the same id, the record that was connected or seen
  /// last is kept.
  public init(_ records: [DeviceRecord] = []) {
    known = Dictionary(records.map { ($0.id, $0) }) { Self.precedes($1, $0) ? $1 : $0 }
  }

  /// The records, one for each id. The connected devices are first, sorted by their last
  /// connection; the other devices follow, sorted by the time when they were last seen. The most
  /// recent is first.
  public var records: [DeviceRecord] {
    let records = known.values.sorted(by: Self.precedes)
    let connected = records.prefix { $0.lastConnected != nil }
    return Array(connected.prefix(Self.connectedCapacity))
      + records.dropFirst(connected.count).prefix(Self.capacity)
  }

  /// The record of a device; `nil` if the device is unknown.
  public subscript(id: String) -> DeviceRecord? { known[id] }

  /// Records an advertisement. A value that is `nil` does not replace a recorded value.
  public mutating func seen(_ id: String, name: String?, address: String?, at time: Double) {
    change(id, at: time) { record in
      record.name = name ?? record.name
      record.address = address ?? record.address
    }
  }

  /// Records a connection. A value that is `nil` does not replace a recorded value.
  ///
  /// - Parameters:
  ///   - id: the device's key in this registry.
  ///   - name: the name that the device reported or advertised.
  ///   - address: the address that the connection used.
  ///   - version: the version that the device reported.
  ///   - time: the time of the connection, in seconds since 1970.
  public mutating func connected(
    _ id: String, name: String?, address: String?, version: FirmwareVersion? = nil, at time: Double
  ) {
    change(id, at: time) { record in
      record.name = name ?? record.name
      record.address = address ?? record.address
      record.lastConnected = time
      if let version { record.running = DeviceRecord.Running(version: version, at: time) }
    }
  }

  /// Records the outcome of an update of a connected device.
  public mutating func flashed(_ id: String, _ flashing: DeviceRecord.Flashing) {
    change(id, at: flashing.at) { record in
      record.lastConnected = max(record.lastConnected ?? flashing.at, flashing.at)
      record.lastFlashing = flashing
      record.running = record.lastVersion
    }
  }

  /// Merges the records of a campaign. Records may be merged in any order and repeatedly. The newer
  /// values are kept (`DeviceRecord.merged(with:)`), but a recorded name is never replaced.
  package mutating func add(_ records: [DeviceRecord]) {
    for record in records {
      guard let former = known[record.id] else {
        known[record.id] = record
        continue
      }
      var merged = former.merged(with: record)
      merged.name = former.name ?? record.name
      known[record.id] = merged
    }
  }

  /// Records that the user chose a device in the live table.
  package mutating func chosen(_ id: String, at time: Double) {
    // A choice does not imply that the device was seen.
    change(id, at: self[id]?.lastSeen ?? time) { $0.lastChosen = time }
  }

  /// The device that the user chose last; `nil` if the user never chose a device.
  package var lastChosen: DeviceRecord? {
    known.values.filter { $0.lastChosen != nil }.max { $0.lastChosen ?? 0 < $1.lastChosen ?? 0 }
  }

  /// Removes a device; has no effect if the device is unknown.
  public mutating func forget(_ id: String) { known[id] = nil }

  private mutating func change(
    _ id: String, at time: Double, _ edit: (inout DeviceRecord) -> Void
  ) {
    var record = self[id] ?? DeviceRecord(id: id, lastSeen: time)
    record.lastSeen = max(record.lastSeen, time)
    edit(&record)
    known[id] = record
  }

  private static func precedes(_ left: DeviceRecord, _ right: DeviceRecord) -> Bool {
    let never = -Double.infinity
    return (left.lastConnected ?? never, left.lastSeen, right.id)
      > (right.lastConnected ?? never, right.lastSeen, left.id)
  }
}
