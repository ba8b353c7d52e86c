import OtaflashFirmware

/// The devices seen and flashed from here.
public struct DeviceRegistry: Equatable, Sendable {
  /// Devices kept that were never connected to; beyond it those not seen for longest are forgotten.
  public static let capacity = 1000
  /// Devices kept that were connected to.
  static let connectedCapacity = 50_000

  private var known: [String: DeviceRecord]

  /// Of two records with one id the one is kept that was connected to or seen last.
  public init(_ records: [DeviceRecord] = []) {
    known = Dictionary(records.map { ($0.id, $0) }) { Self.precedes($1, $0) ? $1 : $0 }
  }

  /// Last connected first, then last seen; each id once.
  public var records: [DeviceRecord] {
    let records = known.values.sorted(by: Self.precedes)
    let connected = records.prefix { $0.lastConnected != nil }
    return Array(connected.prefix(Self.connectedCapacity))
      + records.dropFirst(connected.count).prefix(Self.capacity)
  }

  /// `nil` where no such device was seen.
  public subscript(id: String) -> DeviceRecord? { known[id] }

  /// Notes an advertisement. What it does not tell (`nil`) stays as it was.
  public mutating func seen(_ id: String, name: String?, address: String?, at time: Double) {
    change(id, at: time) { record in
      record.name = name ?? record.name
      record.address = address ?? record.address
    }
  }

  /// Notes a connection. What it does not tell (`nil`) stays as it was.
  ///
  /// - Parameters:
  ///   - id: the device's key in this registry.
  ///   - name: the name that the device reported or advertised.
  ///   - address: the address that the connection used.
  ///   - version: the version that the device reported.
  ///   - time: seconds since 1970.
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

  /// Notes how an update of a device that was connected to ended.
  public mutating func flashed(_ id: String, _ flashing: DeviceRecord.Flashing) {
    change(id, at: flashing.at) { record in
      record.lastConnected = max(record.lastConnected ?? flashing.at, flashing.at)
      record.lastFlashing = flashing
      record.running = record.lastVersion
    }
  }

  /// Notes what a campaign learned of devices, in any order and as often as it likes: each field by
  /// its own time. The name that a device advertised stays.
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

  /// Notes that a person chose a device among others.
  package mutating func chosen(_ id: String, at time: Double) {
    // Nothing was heard of it by that.
    change(id, at: self[id]?.lastSeen ?? time) { $0.lastChosen = time }
  }

  /// The device that a person chose last.
  package var lastChosen: DeviceRecord? {
    known.values.filter { $0.lastChosen != nil }.max { $0.lastChosen ?? 0 < $1.lastChosen ?? 0 }
  }

  /// Forgets a device; one that is not known is none the less forgotten.
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
