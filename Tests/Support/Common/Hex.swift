/// Parses `"0A 15 00"` or `"0a1500"` to bytes; for constants in tests only.
public func hex(_ text: String) -> [UInt8] {
  text.split(whereSeparator: \.isWhitespace).flatMap { word in
    precondition(word.utf8.count.isMultiple(of: 2), "half a byte: \(word)")
    return stride(from: 0, to: word.utf8.count, by: 2).map { offset in
      let digits = word.dropFirst(offset).prefix(2)
      guard let byte = UInt8(digits, radix: 16) else { preconditionFailure("not hex: \(digits)") }
      return byte
    }
  }
}

/// Formats bytes as `"0a1500"`.
public func hex(_ bytes: some Sequence<UInt8>) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
