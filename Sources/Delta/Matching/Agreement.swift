/// Returns the number of equal bytes, at most `limit`, starting at `i` in `a` and `j` in `b`. The
/// first `skipping` bytes are known to be equal.
func agreement(
  _ a: UnsafeBufferPointer<UInt8>, _ i: Int, _ b: UnsafeBufferPointer<UInt8>, _ j: Int,
  skipping: Int, limit: Int = .max
) -> Int {
  let limit = min(a.count - i, b.count - j, limit)
  var length = min(skipping, limit)
  guard let left = a.baseAddress.map({ UnsafeRawPointer($0 + i) }),
    let right = b.baseAddress.map({ UnsafeRawPointer($0 + j) })
  else { return 0 }
  while length + 8 <= limit {
    let differing =
      UInt64(littleEndian: left.loadUnaligned(fromByteOffset: length, as: UInt64.self))
      ^ UInt64(littleEndian: right.loadUnaligned(fromByteOffset: length, as: UInt64.self))
    if differing != 0 { return length + differing.trailingZeroBitCount / 8 }
    length += 8
  }
  while length < limit, a[i + length] == b[j + length] { length += 1 }
  return length
}
