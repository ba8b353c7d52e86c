import OtaflashATT
import OtaflashSimulation
import OtaflashUpdate

// What the lists of `otaflash bench` are made of.

enum MTUChoice: ListElement, Hashable {
  case bytes(Int)
  /// The size that fills the link's connection events, which is known once it was measured.
  case best

  static let expected = "an ATT_MTU; it is 23 to 517, or best for what fills connection events"

  init?(listText: String) {
    if listText == "best" {
      self = .best
      return
    }
    guard let bytes = Quantity.whole(listText), (23...517).contains(bytes) else { return nil }
    self = .bytes(bytes)
  }

  var listText: String {
    switch self {
    case .bytes(let bytes): String(bytes)
    case .best: "best"
    }
  }

  var bytes: Int? {
    switch self {
    case .bytes(let bytes): bytes
    case .best: nil
    }
  }
}

extension WriteMode: ListElement {
  static let expected = "a mode; there are auto, with-response and without-response"
  init?(listText: String) { self.init(rawValue: listText) }
  var listText: String { rawValue }
}

enum WindowChoice: ListElement, Hashable {
  case device
  case bytes(Int)

  static let expected = "a window; write bytes such as 2K, or device for what the device permits"

  init?(listText: String) {
    if listText == "device" {
      self = .device
      return
    }
    guard let count = ByteCount(listText), count.bytes > 0 else { return nil }
    self = .bytes(count.bytes)
  }

  var listText: String {
    switch self {
    case .device: "device"
    case .bytes(let bytes): String(bytes)
    }
  }

  var bytes: Int? {
    switch self {
    case .device: nil
    case .bytes(let bytes): bytes
    }
  }
}

extension PHY: ListElement {
  static let expected = "a PHY; there are 1M, 2M, coded, S2 and S8"
  init?(listText: String) { self.init(caseInsensitive: listText) }
  var listText: String { rawValue }
}

extension ConnectionInterval: ListElement {
  static let expected = "an interval; it is 7.5ms to 4s in steps of 1.25 ms"

  init?(listText: String) {
    guard let span = TimeSpan(listText) else { return nil }
    let (seconds, attoseconds) = span.duration.components
    self.init(microseconds: Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000))
  }

  var listText: String { Text.decimal(Double(microseconds) / 1000) + "ms" }
}
