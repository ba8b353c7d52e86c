import OtaflashGATT

/// The order of the locations at which to look for a device: one pass if it was never found,
/// repeated passes after it was sent to a bootloader.
struct LocationSearch: Sendable {
  private var places: [DeviceLocation]
  private var index = 0
  private var looksLeft: Int
  /// An application was found at the first location, so there is no firmware loader to find.
  private let settlesAtHome: Bool

  /// - Parameters:
  ///   - places: one or more.
  ///   - settlesAtHome: after a device was found at its own address, the search omits the address
  ///     of a firmware loader.
  init(_ places: [DeviceLocation], settlesAtHome: Bool = false) {
    precondition(!places.isEmpty, "a search needs a location")
    self.places = places
    self.settlesAtHome = settlesAtHome
    looksLeft = places.count - 1
  }

  var place: DeviceLocation { places[index] }

  /// The location to connect to. A device that was connected before may have restarted since, and
  /// may use another random address after each start.
  func place(afterConnecting: Bool) -> DeviceLocation {
    afterConnecting && place == .home ? .homeOrNewAddress : place
  }

  /// The device was found here.
  mutating func found() {
    if settlesAtHome, place == .home {
      places.removeAll { $0 == .flippedAddress }
      index = places.firstIndex(of: .home) ?? 0
    }
    looksLeft = places.count - 1
  }

  /// The device is not here: move to the next location; `false` after the last one. The first
  /// location is then next.
  mutating func moveOn() -> Bool {
    index = (index + 1) % places.count
    guard looksLeft > 0 else {
      looksLeft = places.count - 1
      return false
    }
    looksLeft -= 1
    return true
  }
}
