/// One triple of a patch: the number of bytes that are bytes of the base plus a difference, the
/// number of new bytes, and the seek in the base after them.
struct PatchStep: Equatable, Sendable {
  var difference: Int
  var extra: Int
  var seek: Int
}
