/// A resource limit that is too low, detected at the start of the process.
package enum ResourceShortage: Equatable, Sendable {
  /// The number of further files and sockets that can be open is less than needed.
  case descriptors(free: Int, needed: Int)
  /// In bytes (RLIMIT_AS).
  case addressSpace(limit: Int, needed: Int)
}
