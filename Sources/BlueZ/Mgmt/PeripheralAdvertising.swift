import OtaflashATT

/// The advertisement of a peripheral: connectable, discoverable, with a name and one service.
public struct PeripheralAdvertising: Equatable, Sendable {
  /// The number by which the kernel identifies the advertisement. otaflash always uses the same
  /// number, so that a new advertisement replaces the advertisement of a killed process.
  static let instance: UInt8 = 1
  /// The maximum length of the name: a legacy scan response has 31 bytes, two of which are the
  /// length and the type of the structure.
  public static let nameMaximum = 29
  /// The flags: connectable, general discoverable (mgmt-api.txt, Add Advertising). The kernel adds
  /// the flags to the advertisement.
  private static let flags: UInt32 = 1 << 0 | 1 << 1

  /// The name, 1…`nameMaximum` bytes of UTF-8.
  public let name: String
  /// The service that the device advertises.
  public let service: BluetoothUUID

  /// Creates an advertisement; returns `nil` if the name is empty or longer than `nameMaximum`
  /// bytes of UTF-8.
  public init?(name: String, service: BluetoothUUID) {
    guard 1...Self.nameMaximum ~= name.utf8.count else { return nil }
    self.name = name
    self.service = service
  }

  /// The parameters of the command: instance, flags, duration 0, timeout 0, and the data. The
  /// service is in the advertisement, and the name is in the scan response.
  var parameters: [UInt8] {
    let untilRemoved = UInt16(0).bytes
    let service = Self.structure(0x07, service.littleEndian128)
    let name = Self.structure(0x09, Array(name.utf8))
    let flags = UInt16(truncatingIfNeeded: Self.flags).bytes + UInt16(Self.flags >> 16).bytes
    let times = UInt16(0).bytes + untilRemoved
    let lengths = [UInt8(service.count), UInt8(name.count)]
    return [Self.instance] + flags + times + lengths + service + name
  }

  /// Returns a structure with length, type and data (Core Specification Supplement, Part A, 1.1 and
  /// 1.2).
  private static func structure(_ type: UInt8, _ data: [UInt8]) -> [UInt8] {
    [UInt8(data.count + 1), type] + data
  }
}

/// An adapter in the peripheral role. Needs CAP_NET_ADMIN.
public struct Advertiser: Sendable {
  private let session: MgmtSession
  private let adapter: UInt16
  /// The address of the adapter, for `L2CAPListener`.
  public let address: BluetoothAddress

  /// Opens a session for an adapter.
  ///
  /// - Parameter adapter: the adapter's number; `hci0` is 0.
  /// - Throws: `.adapterUnavailable` also if the adapter is switched off.
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

  /// Advertises until `stop` is called or the adapter is removed, except while a central is
  /// connected. If this process is killed, the kernel continues to advertise.
  public func start(_ advertisement: PeripheralAdvertising) async throws(MgmtFault) {
    try await session.perform(.addAdvertising(advertisement), index: adapter)
  }

  /// Stops advertising, and ends the session with the kernel. This function also works in a
  /// cancelled task, because it does not wait for the response. A removed adapter does not
  /// advertise.
  public func stop() {
    _ = session.post(.removeAdvertising, index: adapter)
    session.close()
  }

  /// Ends the link to a central immediately. The response is not awaited, because no action is
  /// needed if the central is already disconnected.
  public func disconnect(_ central: BluetoothAddress) {
    _ = session.post(.disconnect(central), index: adapter)
  }
}
