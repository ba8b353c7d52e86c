import OtaflashTestSupport

extension SplitMix64 {
  /// Creates a changed image with runs of the base in another order, some changed bytes, some new
  /// bytes and some padding.
  mutating func edited(_ base: [UInt8], pieces: Int) -> [UInt8] {
    var image: [UInt8] = []
    for _ in 0..<pieces {
      let start = Int.random(in: 0...base.count, using: &self)
      var piece = Array(base[start..<Int.random(in: start...base.count, using: &self)])
      for i in piece.indices where Int.random(in: 0..<30, using: &self) == 0 {
        piece[i] &+= UInt8.random(in: 0...9, using: &self)
      }
      image += piece + bytes(Int.random(in: 0..<40, using: &self))
      if Bool.random(using: &self) { image += [UInt8](repeating: 0xFF, count: 300) }
    }
    return image.isEmpty ? [7] : image
  }
}

func bytes(_ text: String) -> [UInt8] {
  text.split(separator: " ").flatMap { word -> [UInt8] in
    let parts = word.split(separator: "*")
    let byte = UInt8(parts[parts.count - 1], radix: 16) ?? 0
    return [UInt8](repeating: byte, count: parts.count == 2 ? Int(parts[0]) ?? 0 : 1)
  }
}

/// The example of docs/delta.md.
enum Example {
  static let base = (0..<64).map { UInt8($0) }
  static let image = [base[..<10], [0xAA], base[11..<32], Array("NEW".utf8)[...], base[32...]]
    .flatMap { (part: ArraySlice<UInt8>) in part }
  /// The patches that PyPI's detools 0.53.0 creates.
  static let patches = [
    "none": "00 83 01 00 20 10*00 A0 21*00 03 4E 45 57 00 20 32*00 00 60",
    "crle": """
    02 83 01 00 02 00 20 01 0A 00 00 01 A0 01 15 00 00 06 03 4E 45 57 00 20 01 21 00 00 01 60
    """,
    "heatshrink 8,7": "04 83 01 44 80 48 01 42 74 02 02 90 3A 75 16 AE 25 16 00 2D 60",
    "heatshrink 10,8":
      "04 83 01 65 80 48 00 50 4E 80 10 0A 40 E9 D4 5A B8 25 0B 00 02 D6 00",
  ]
}
