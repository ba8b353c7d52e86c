import OtaflashGATT

/// Where to look for a device next: the places in their order, one turn while it was never found,
/// round and round once a bootloader has taken it somewhere.
struct LocationSearch: Sendable {
  private let places: [DeviceLocation]
  private var index = 0
  private var looksLeft: Int

  /// - Parameter places: one or more.
  init(_ places: [DeviceLocation]) {
    precondition(!places.isEmpty, "a device that is nowhere")
    self.places = places
    looksLeft = places.count - 1
  }

  var place: DeviceLocation { places[index] }

  /// The device answers here.
  mutating func found() { looksLeft = places.count - 1 }

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
