import OtaflashConsole
import OtaflashUpdate

// The elements of the lists that `otaflash bench` accepts.

package enum MTUChoice: ListElement, Hashable {
  case bytes(Int)
  /// The size that fills the link's connection events, which is known after the link is measured.
  case best

  package static let expected =
    "an ATT_MTU from 23 to 517, or best for the size that fills connection events"

  package init?(listText: String) {
    if listText == "best" {
      self = .best
      return
    }
    guard let bytes = Quantity.whole(listText), (23...517).contains(bytes) else { return nil }
    self = .bytes(bytes)
  }

  package var listText: String {
    switch self {
    case .bytes(let bytes): String(bytes)
    case .best: "best"
    }
  }

  package var bytes: Int? {
    switch self {
    case .bytes(let bytes): bytes
    case .best: nil
    }
  }
}

extension WriteMode: ListElement {
  package static let expected = "a mode; the modes are auto, with-response and without-response"
  package init?(listText: String) { self.init(rawValue: listText) }
  package var listText: String { rawValue }
}

package enum WindowChoice: ListElement, Hashable {
  case device
  case bytes(Int)

  package static let expected =
    "a window; write a number of bytes such as 2K, or device for the window of the device"

  package init?(listText: String) {
    if listText == "device" {
      self = .device
      return
    }
    guard let count = ByteCount(listText), count.bytes > 0 else { return nil }
    self = .bytes(count.bytes)
  }

  package var listText: String {
    switch self {
    case .device: "device"
    case .bytes(let bytes): String(bytes)
    }
  }

  package var bytes: Int? {
    switch self {
    case .device: nil
    case .bytes(let bytes): bytes
    }
  }
}
