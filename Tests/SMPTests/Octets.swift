/// `"0a00 0006"` as octets; for constants in tests only.
func octets(_ text: String) -> [UInt8] {
  let digits = text.filter { !$0.isWhitespace }
  precondition(digits.count.isMultiple(of: 2), "half an octet")
  return stride(from: 0, to: digits.count, by: 2).map { offset in
    let start = digits.index(digits.startIndex, offsetBy: offset)
    guard let octet = UInt8(digits[start..<digits.index(start, offsetBy: 2)], radix: 16) else {
      preconditionFailure("not hex: \(text)")
    }
    return octet
  }
}

func hex(_ bytes: some Sequence<UInt8>) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
