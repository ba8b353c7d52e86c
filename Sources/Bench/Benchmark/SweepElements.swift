import OtaflashConsole
import OtaflashUpdate

// What the lists of `otaflash bench` are made of.

package enum MTUChoice: ListElement, Hashable {
  case octets(Int)
  /// The size that fills the link's connection events, which is known once it was measured.
  case best

  package static let expected =
    "an ATT_MTU; it is 23 to 517, or best for what fills connection events"

  package init?(listText: String) {
    if listText == "best" {
      self = .best
      return
    }
    guard let octets = Quantity.whole(listText), (23...517).contains(octets) else { return nil }
    self = .octets(octets)
  }

  package var listText: String {
    switch self {
    case .octets(let octets): String(octets)
    case .best: "best"
    }
  }

  package var octets: Int? {
    switch self {
    case .octets(let octets): octets
    case .best: nil
    }
  }
}

extension WriteMode: ListElement {
  package static let expected = "a mode; there are auto, with-response and without-response"
  package init?(listText: String) { self.init(rawValue: listText) }
  package var listText: String { rawValue }
}

package enum WindowChoice: ListElement, Hashable {
  case device
  case octets(Int)

  package static let expected =
    "a window; write bytes such as 2K, or device for what the device permits"

  package init?(listText: String) {
    if listText == "device" {
      self = .device
      return
    }
    guard let count = ByteCount(listText), count.octets > 0 else { return nil }
    self = .octets(count.octets)
  }

  package var listText: String {
    switch self {
    case .device: "device"
    case .octets(let octets): String(octets)
    }
  }

  package var octets: Int? {
    switch self {
    case .device: nil
    case .octets(let octets): octets
    }
  }
}
