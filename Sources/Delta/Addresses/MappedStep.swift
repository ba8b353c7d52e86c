/// One triple of format 2: a place in the base, the number of bytes that are similar there, and the
/// number of new bytes.
struct MappedStep: Equatable, Sendable {
  var from: Int
  var difference: Int
  var extra: Int
}
