/// `"0A 15 00"` as octets; for constants in tests only.
func hex(_ text: String) -> [UInt8] {
  text.split(separator: " ").map { digits in
    guard let octet = UInt8(digits, radix: 16) else { preconditionFailure("not hex: \(digits)") }
    return octet
  }
}
