import OtaflashGATT

/// Where to look for a device next: the places in their order, one turn while it was never found,
/// round and round once a bootloader has taken it somewhere.
struct LocationSearch: Sendable {
  private var places: [DeviceLocation]
  private var index = 0
  private var looksLeft: Int
  /// An application was found where it was first looked for: no firmware loader has to be.
  private let settlesAtHome: Bool

  /// - Parameters:
  ///   - places: one or more.
  ///   - settlesAtHome: a device that is found at its own address is no longer looked for at that of
  ///     a firmware loader.
  init(_ places: [DeviceLocation], settlesAtHome: Bool = false) {
    precondition(!places.isEmpty, "a device that is nowhere")
    self.places = places
    self.settlesAtHome = settlesAtHome
    looksLeft = places.count - 1
  }

  var place: DeviceLocation { places[index] }

  /// The place to connect to. A device that was connected to may have restarted since, and may draw
  /// another random address at each start.
  func place(afterConnecting: Bool) -> DeviceLocation {
    afterConnecting && place == .home ? .homeOrNewAddress : place
  }

  /// The device answers here.
  mutating func found() {
    if settlesAtHome, place == .home {
      places.removeAll { $0 == .flippedAddress }
      index = places.firstIndex(of: .home) ?? 0
    }
    looksLeft = places.count - 1
  }

  /// Nobody is here: on to the next place; `false` when each of them was tried. The first is then
  /// the next again.
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
