import OtaflashGATT

/// The order in which the locations of a device are searched. The life cycle makes only one pass if
/// the device was never connected, and otherwise repeats the passes.
struct LocationSearch: Sendable {
  private var places: [DeviceLocation]
  private var index = 0
  private var looksLeft: Int
  /// Whether the search omits the address of a firmware loader after a device was found at its own
  /// address.
  private let settlesAtHome: Bool

  /// Starts a search at the first location.
  ///
  /// - Parameters:
  ///   - places: the locations in search order, one or more.
  ///   - settlesAtHome: whether the search omits the address of a firmware loader after a device
  ///     was found at its own address.
  init(_ places: [DeviceLocation], settlesAtHome: Bool = false) {
    precondition(!places.isEmpty, "a search needs a location")
    self.places = places
    self.settlesAtHome = settlesAtHome
    looksLeft = places.count - 1
  }

  var place: DeviceLocation { places[index] }

  /// Returns the location to connect to. A device that was connected before may have restarted, and
  /// may then use another random address.
  func place(afterConnecting: Bool) -> DeviceLocation {
    afterConnecting && place == .home ? .homeOrNewAddress : place
  }

  /// Records that the device was found at the current location.
  mutating func found() {
    if settlesAtHome, place == .home {
      places.removeAll { $0 == .flippedAddress }
      index = places.firstIndex(of: .home) ?? 0
    }
    looksLeft = places.count - 1
  }

  /// Moves to the next location, because the device is not at the current location. Returns `false`
  /// at the end of a pass over all locations; the next pass starts at the same location as this
  /// pass.
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
