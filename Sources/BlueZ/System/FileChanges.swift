import Glibc
import OtaflashGATT

/// Notifications of the kernel about changes of one file (inotify(7)). The file may be missing, be
/// replaced by another file, or disappear together with its folders: the folder that is watched is
/// the closest folder that exists.
///
/// A notification is a hint; the caller compares the file. Changes through a symbolic link, through
/// a mapping, or on another computer (network file systems) are not reported.
package final class FileChanges: Sendable {
  /// The reason for the end of a wait.
  package enum Wake: Equatable, Sendable {
    case changed, timedOut, cancelled
  }

  private static let mask = UInt32(
    IN_CREATE | IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO
      | IN_DELETE_SELF | IN_MOVE_SELF)
  /// Room for many events; an event has at most 272 bytes.
  private static let bufferSize = 1 << 14
  private static let headerSize = MemoryLayout<inotify_event>.size

  // The commands of fcntl(2) that the C library hides.
  private static let setSignal: Int32 = 10
  private static let setLease: Int32 = 1024

  private let name: String
  /// The folder of the file and the folders above it, the closest first.
  private let folders: [String]
  private let descriptor: FileDescriptor
  private let watch: Watch

  /// - Parameter path: the file, which may be missing.
  /// - Returns: `nil` if the kernel has no resources for notifications.
  package init?(path: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
    name = parts.last ?? ""
    let root = path.hasPrefix("/") ? "/" : "./"
    folders = (0..<max(parts.count, 1)).reversed().map { count in
      root + parts[..<count].joined(separator: "/")
    }
    do throws(SystemError) {
      descriptor = try FileDescriptor(result: inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC)))
      watch = try EventLoop.shared.add(descriptor)
    } catch {
      return nil
    }
    _ = drain()
    _ = arm()
  }

  deinit { EventLoop.shared.remove(watch) }

  /// Waits for a change since the last call. Only one task may wait.
  package func wait(atMost limit: Duration) async -> Wake {
    let deadline = EventLoop.shared.now.advanced(by: limit)
    while true {
      let folder = arm()
      if drain() { return .changed }
      switch await EventLoop.shared.wait(for: .readable, on: watch, until: deadline) {
      case .ready: break
      case .timedOut: return .timedOut
      case .cancelled, .closed: return .cancelled
      }
      // A folder that appeared or disappeared is a change, because the file may have appeared or
      // disappeared with it.
      if drain() || arm() != folder { return .changed }
    }
  }

  /// Returns whether a process has the file open for writing; in this case the kernel grants no
  /// read lease. Returns `false` if the state is unknown, for example for a file of another user.
  package static func isOpenForWriting(_ path: String) -> Bool {
    let raw = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard raw >= 0 else { return false }
    defer { close(raw) }
    // A process that opens the file during the lease causes a signal; SIGURG is ignored.
    _ = fcntl(raw, setSignal, SIGURG)
    guard fcntl(raw, setLease, F_RDLCK) != 0 else {
      _ = fcntl(raw, setLease, F_UNLCK)
      return false
    }
    return errno == EAGAIN
  }

  /// Watches the closest folder that exists. Returns the kernel's number of this watch, which does
  /// not change while the same folder is watched; -1 if no folder can be watched.
  private func arm() -> Int32 {
    for folder in folders {
      let number = inotify_add_watch(descriptor.raw, folder, Self.mask)
      if number >= 0 { return number }
    }
    return -1
  }

  /// Reads all pending events. Returns whether one of them concerns the file or a folder above it.
  private func drain() -> Bool {
    var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
    var isConcerned = false
    while true {
      let count = read(descriptor.raw, &buffer, buffer.count)
      guard count > 0 else { return isConcerned }
      if concerns(buffer[..<count]) { isConcerned = true }
    }
  }

  private func concerns(_ events: ArraySlice<UInt8>) -> Bool {
    let names = Set(folders.compactMap { $0.split(separator: "/").last.map(String.init) } + [name])
    var rest = events
    while rest.count >= Self.headerSize {
      let header = rest.withUnsafeBytes { $0.loadUnaligned(as: inotify_event.self) }
      rest = rest.dropFirst(Self.headerSize)
      let name = rest.prefix(Int(header.len)).prefix { $0 != 0 }
      rest = rest.dropFirst(Int(header.len))
      // An event without a name concerns the folder itself, or reports an overflow.
      if name.isEmpty || names.contains(String(decoding: name, as: UTF8.self)) { return true }
    }
    return false
  }
}
