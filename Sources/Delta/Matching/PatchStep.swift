/// One triple of a patch: the number of bytes that are the base's plus a difference, the number of
/// new bytes, and the move in the base after them.
struct PatchStep: Equatable, Sendable {
  var difference: Int
  var extra: Int
  var seek: Int
}
