import OtaflashGATT

extension BluetoothUUID {
  static let deviceInformation = BluetoothUUID(0x180A)
}

/// The strings of the Device Information Service 1.1 (3.1 to 3.6).
enum InformationField: UInt16, CaseIterable, CustomStringConvertible {
  case modelNumber = 0x2A24
  case serialNumber = 0x2A25
  case firmwareRevision = 0x2A26
  case hardwareRevision = 0x2A27
  case softwareRevision = 0x2A28
  case manufacturerName = 0x2A29

  var uuid: BluetoothUUID { BluetoothUUID(rawValue) }

  var description: String {
    switch self {
    case .modelNumber: "model number"
    case .serialNumber: "serial number"
    case .firmwareRevision: "firmware revision"
    case .hardwareRevision: "hardware revision"
    case .softwareRevision: "software revision"
    case .manufacturerName: "manufacturer"
    }
  }
}
