import OtaflashGATT

extension BluetoothUUID {
  static let heartRate = BluetoothUUID(0x180D)
  static let heartRateMeasurement = BluetoothUUID(0x2A37)
  static let bodySensorLocation = BluetoothUUID(0x2A38)
}

/// Heart Rate Measurement (Heart Rate Service 1.0, 3.1): flags, then 8 or 16 bits of beats per
/// minute, then fields that this example ignores.
struct HeartRateMeasurement: Equatable, CustomStringConvertible {
  /// Whether the strap has skin contact; `nil` if it has no sensor for it.
  let isInContact: Bool?
  let beatsPerMinute: Int

  init(decoding bytes: [UInt8]) throws(MeasurementFault) {
    guard let flags = bytes.first else { throw MeasurementFault(bytes: 0) }
    let size = flags & 0x01 == 0 ? 1 : 2
    guard bytes.count > size else { throw MeasurementFault(bytes: bytes.count) }
    isInContact = flags & 0x04 == 0 ? nil : flags & 0x02 != 0
    beatsPerMinute = bytes[1...size].reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  var description: String {
    "\(beatsPerMinute) beats a minute" + (isInContact == false ? ", no skin contact" : "")
  }
}

/// A measurement that is shorter than its flags require.
struct MeasurementFault: Error {
  let bytes: Int
}

/// Body Sensor Location (3.2).
enum BodySensorLocation: UInt8, CustomStringConvertible {
  case other, chest, wrist, finger, hand, earLobe, foot

  /// Reserved values become `other`.
  init(decoding bytes: [UInt8]) { self = bytes.first.flatMap(Self.init) ?? .other }

  var description: String {
    switch self {
    case .other: "another place"
    case .chest: "chest"
    case .wrist: "wrist"
    case .finger: "finger"
    case .hand: "hand"
    case .earLobe: "ear lobe"
    case .foot: "foot"
    }
  }
}
