import OtaflashBlueZ
import OtaflashGATT
import OtaflashState
import Synchronization

/// The last known address of a device on the air, and the search for a new address. A device that
/// was selected by a pattern may use another random address after each start.
package final class TrackedAddress: Sendable {
  /// A lock that excludes other processes from the device under its new address.
  private final class Hold: Sendable {
    private let lock: DeviceLock

    init(_ device: BluetoothAddress) throws(StateFault) {
      lock = try DeviceLock(DeviceIdentity(device))
    }
  }

  private struct State {
    var address: BluetoothAddress
    var hold: Hold?
  }

  private let state: Mutex<State>
  /// The pattern of the device's name; `nil` if the user specified an address, so that no other
  /// address is accepted.
  private let pattern: NamePattern?
  private let moved: @Sendable (_ former: BluetoothAddress, _ new: BluetoothAddress) -> Void

  /// - Parameter moved: receives the former and the new address. The call must return soon.
  package init(
    _ address: BluetoothAddress, matching pattern: NamePattern?,
    moved: @escaping @Sendable (BluetoothAddress, BluetoothAddress) -> Void
  ) {
    state = Mutex(State(address: address))
    self.pattern = pattern
    self.moved = moved
  }

  package var address: BluetoothAddress { state.withLock { $0.address } }

  /// Returns the address to connect to. If the device may have a new address, scans first.
  package func address(
    at place: DeviceLocation, hearing scanner: some Scanner, on clock: any LinkClock
  ) async throws(ConnectFault) -> BluetoothAddress {
    let known = address
    guard place == .homeOrNewAddress, let pattern else {
      return try await known.search(at: place, hearing: scanner, on: clock)
    }
    let found: Advertisement
    do throws(ConnectFault) {
      found = try await scanner.relocated(
        known.description, orMatching: AdvertisementFilter(name: pattern), on: clock)
    } catch {
      switch error {
      case .deviceNotFound, .lostWhileConnecting, .cancelled: throw error
      // Without a scan, the device can only be found at its known address.
      case .adapterUnavailable, .busy, .permissionDenied, .systemCall: return known
      }
    }
    guard let new = BluetoothAddress(found.id), new != known else { return known }
    try move(to: new, from: known)
    return new
  }

  private func move(
    to new: BluetoothAddress, from known: BluetoothAddress
  ) throws(ConnectFault) {
    do throws(StateFault) {
      let hold = try Hold(new)
      state.withLock { $0 = State(address: new, hold: hold) }
    } catch {
      // The condition may be temporary, so another attempt is worthwhile.
      throw .lostWhileConnecting(.failed(errno: 0, reason: "\(error)"))
    }
    moved(known, new)
  }
}
