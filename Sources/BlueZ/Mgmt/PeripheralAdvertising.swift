import OtaflashATT

/// What a peripheral tells everybody: connectable, discoverable, a name and one service.
public struct PeripheralAdvertising: Equatable, Sendable {
  /// The kernel keeps several advertisements apart by number; ours is always this one, so that the
  /// one of a process that was killed is replaced.
  static let instance: UInt8 = 1
  /// A legacy scan response has 31 bytes, two of which are the structure's length and type.
  public static let nameMaximum = 29
  /// Connectable, general discoverable (mgmt-api.txt, Add Advertising); the kernel adds the flags.
  private static let flags: UInt32 = 1 << 0 | 1 << 1

  /// 1…`nameMaximum` bytes of UTF-8.
  public let name: String
  /// The service by which the device is found.
  public let service: BluetoothUUID

  /// `nil` when the name is empty or longer than `nameMaximum` bytes of UTF-8.
  public init?(name: String, service: BluetoothUUID) {
    guard 1...Self.nameMaximum ~= name.utf8.count else { return nil }
    self.name = name
    self.service = service
  }

  /// Instance, flags, no change over time, and the data: the service in the advertisement, the
  /// name in the scan response.
  var parameters: [UInt8] {
    let untilRemoved = UInt16(0).bytes
    let service = Self.structure(0x07, service.littleEndian128)
    let name = Self.structure(0x09, Array(name.utf8))
    return [Self.instance] + UInt16(truncatingIfNeeded: Self.flags).bytes
      + UInt16(Self.flags >> 16).bytes + UInt16(0).bytes + untilRemoved
      + [UInt8(service.count), UInt8(name.count)] + service + name
  }

  /// Core Specification Supplement, Part A, 1.1 (service UUIDs) and 1.2 (local name).
  private static func structure(_ type: UInt8, _ data: [UInt8]) -> [UInt8] {
    [UInt8(data.count + 1), type] + data
  }
}

/// An adapter in the peripheral's role. Needs CAP_NET_ADMIN.
public struct Advertiser: Sendable {
  private let session: MgmtSession
  private let adapter: UInt16
  /// The adapter's own address, for `L2CAPListener`.
  public let address: BluetoothAddress

  /// `adapter` is the adapter's number; `hci0` is 0.
  /// - Throws: `.adapterUnavailable` also when the adapter is switched off.
  public init(adapter: UInt16) async throws(MgmtFault) {
    let session = try MgmtSession()
    let answer = try await session.perform(.readControllerInformation, index: adapter)
    let information = try MgmtIndexList.information(answer)
    guard information.current.contains(.powered) else {
      throw MgmtFault(.notPowered, opcode: MgmtCommand.readControllerInformation.opcode)
    }
    self.session = session
    self.adapter = adapter
    address = information.address
  }

  /// Advertises from now on, with pauses while a central is connected, until `stop` is called or
  /// the adapter goes. Survives this process: a killed one leaves it on.
  public func start(_ advertisement: PeripheralAdvertising) async throws(MgmtFault) {
    try await session.perform(.addAdvertising(advertisement), index: adapter)
  }

  /// Stops advertising, and ends the conversation with the kernel. Works in a cancelled task, where
  /// nobody can wait for the answer; an adapter that is gone advertises no longer anyway.
  public func stop() {
    _ = session.post(.removeAdvertising, index: adapter)
    session.close()
  }

  /// Ends the link to a central at once. Nobody waits for the answer either: a central that is gone
  /// already is what was wanted.
  public func disconnect(_ central: BluetoothAddress) {
    _ = session.post(.disconnect(central), index: adapter)
  }
}
