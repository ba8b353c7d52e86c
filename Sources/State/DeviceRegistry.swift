import OtaflashFirmware

/// The devices seen and flashed from here: last connected first, then last seen.
public struct DeviceRegistry: Equatable, Sendable {
  /// Devices kept; beyond it those at the end of the order are forgotten.
  public static let capacity = 1000

  /// In their order; each id once.
  public private(set) var records: [DeviceRecord]

  /// Of two records with one id the first in the order is kept.
  public init(_ records: [DeviceRecord] = []) {
    var known: Set<String> = []
    self.records = records.sorted(by: Self.precedes).filter { known.insert($0.id).inserted }
    forgetBeyondCapacity()
  }

  /// `nil` where no such device was seen.
  public subscript(id: String) -> DeviceRecord? { records.first { $0.id == id } }

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

  /// Notes that a person chose a device among others.
  package mutating func chosen(_ id: String, at time: Double) {
    // Nothing was heard of it by that.
    change(id, at: self[id]?.lastSeen ?? time) { $0.lastChosen = time }
  }

  /// The device that a person chose last.
  package var lastChosen: DeviceRecord? {
    records.filter { $0.lastChosen != nil }.max { $0.lastChosen ?? 0 < $1.lastChosen ?? 0 }
  }

  /// Forgets a device; one that is not known is none the less forgotten.
  public mutating func forget(_ id: String) { records.removeAll { $0.id == id } }

  private mutating func change(
    _ id: String, at time: Double, _ edit: (inout DeviceRecord) -> Void
  ) {
    var record = self[id] ?? DeviceRecord(id: id, lastSeen: time)
    record.lastSeen = max(record.lastSeen, time)
    edit(&record)
    records.removeAll { $0.id == id }
    let place = records.firstIndex { Self.precedes(record, $0) } ?? records.endIndex
    records.insert(record, at: place)
    forgetBeyondCapacity()
  }

  private mutating func forgetBeyondCapacity() {
    records.removeLast(max(0, records.count - Self.capacity))
  }

  private static func precedes(_ left: DeviceRecord, _ right: DeviceRecord) -> Bool {
    let never = -Double.infinity
    return (left.lastConnected ?? never, left.lastSeen, right.id)
      > (right.lastConnected ?? never, right.lastSeen, left.id)
  }
}
