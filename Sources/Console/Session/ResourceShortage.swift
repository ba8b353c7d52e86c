/// Why the process could not do its work, found before it could die of it.
package enum ResourceShortage: Equatable, Sendable {
  /// So many more files and sockets can be open; fewer than are needed.
  case descriptors(free: Int, needed: Int)
  /// In bytes (RLIMIT_AS).
  case addressSpace(limit: Int, needed: Int)
}
