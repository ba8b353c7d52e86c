/// One triple of a patch: the number of bytes that are the sum of a base byte and a difference, the
/// number of new bytes, and the subsequent seek in the base.
struct PatchStep: Equatable, Sendable {
  var difference: Int
  var extra: Int
  var seek: Int
}
