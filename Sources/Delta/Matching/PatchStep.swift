/// One triple of a patch: so many bytes are the base's plus a difference, so many are new, and
/// then the place in the base moves.
struct PatchStep: Equatable, Sendable {
  var difference: Int
  var extra: Int
  var seek: Int
}
