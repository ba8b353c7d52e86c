import OtaflashGATT

/// The service of app and door.
extension BluetoothUUID {
  public static let door: BluetoothUUID = "8d5e0001-1c6b-4f1e-9b6a-2f0c7d3b5a10"
  /// Read and notified: 1 when the door is open.
  public static let doorState: BluetoothUUID = "8d5e0002-1c6b-4f1e-9b6a-2f0c7d3b5a10"
  /// Written with response: 1 locks, 0 unlocks; only after `doorCode` was written.
  public static let doorLock: BluetoothUUID = "8d5e0003-1c6b-4f1e-9b6a-2f0c7d3b5a10"
  /// Written with response: the code that permits the next write of `doorLock`.
  public static let doorCode: BluetoothUUID = "8d5e0004-1c6b-4f1e-9b6a-2f0c7d3b5a10"
}

/// A custom error of the app, thrown during work on a connection.
public enum DoorError: Error, Equatable {
  case unreadable([UInt8])
  case nameTooLong(String)
}

public enum DoorState: UInt8, Sendable {
  case closed, open

  public init(decoding bytes: [UInt8]) throws {
    guard bytes.count == 1, let state = DoorState(rawValue: bytes[0]) else {
      throw DoorError.unreadable(bytes)
    }
    self = state
  }
}

/// Selects the doors among all advertising devices.
public let doors = AdvertisementFilter(name: /^Door/, services: [.door], rssiMinimum: -90)
