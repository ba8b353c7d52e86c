import OtaflashGATT

extension BluetoothAddress {
  /// The time limit of a scan for a name. A bootloader advertises several times a second.
  private static let scanLimit = Duration.seconds(4)

  /// Returns the address of a device at a location; scans if only its name is known.
  ///
  /// - Throws: `.deviceNotFound` if no device advertises the name, or the error of the scan.
  package func search(
    at place: DeviceLocation, hearing scanner: some Scanner, on clock: any LinkClock
  ) async throws(ConnectFault) -> BluetoothAddress {
    guard case .advertising(let name) = place else { return at(place) ?? self }
    let filter = AdvertisementFilter { $0 == name }
    let found: Advertisement
    do throws(ScanFault) {
      found = try await scanner.first(matching: filter, within: Self.scanLimit, on: clock)
    } catch {
      throw ConnectFault(error)
    }
    guard let address = BluetoothAddress(found.id) else {
      throw .deviceNotFound(
        cause: "The scan reported '\(name)' without an address.", remedy: .comeCloser)
    }
    return address
  }
}
