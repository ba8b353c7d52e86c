/// A resource limit that is too low, detected at the start of the process.
package enum ResourceShortage: Equatable, Sendable {
  /// The number of files and sockets that can still be opened is less than needed.
  case descriptors(free: Int, needed: Int)
  /// The address space in bytes (RLIMIT_AS) is less than needed.
  case addressSpace(limit: Int, needed: Int)
}
