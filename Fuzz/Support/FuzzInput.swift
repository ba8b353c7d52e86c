/// Splits an input into messages: a length byte, followed by this number of bytes or the rest.
func messages(_ input: [UInt8]) -> [[UInt8]] {
  var rest = input[...]
  var messages: [[UInt8]] = []
  while let length = rest.popFirst() {
    messages.append(Array(rest.prefix(Int(length))))
    rest = rest.dropFirst(Int(length))
  }
  return messages
}
