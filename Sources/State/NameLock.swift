import Glibc

/// A name in the kernel's abstract socket namespace (unix(7)). Only one process at a time can bind
/// a name, independent of the user and the environment. The kernel releases the name when the
/// process ends.
struct NameLock: ~Copyable, Sendable {
  enum Refusal: Error {
    /// The pid of the holder; `nil` if the holder has just ended, or runs in another container.
    case held(by: Int32?)
    case failed(FileErrno)
  }

  let socket: FileDescriptor

  /// Binds the name. The call does not wait for another holder. However, it waits for a lock that
  /// was just released, because a child process has a copy of the descriptor until it executes its
  /// program.
  init(_ name: String) throws(Refusal) {
    let address = AbstractAddress(name)
    for _ in 1..<Self.attempts {
      do throws(Refusal) {
        self = try Self(binding: address)
        return
      } catch {
        guard case .held(by: nil) = error, !Self.isHeld(name) else { throw error }
        poll(nil, 0, Self.interval)
      }
    }
    self = try Self(binding: address)
  }

  /// The number of attempts to bind a name that no process holds, and the milliseconds between two
  /// attempts.
  private static let attempts = 250
  private static let interval: Int32 = 4

  private init(binding address: AbstractAddress) throws(Refusal) {
    do throws(FileErrno.Failure) {
      let socket = try Self.stream()
      let number = socket.number
      _ = try FileErrno.checked { address.call { bind(number, $0, $1) } }
      // Other processes connect to the socket to obtain the holder's pid from the kernel.
      _ = try FileErrno.checked { listen(number, SOMAXCONN) }
      self.socket = socket
    } catch {
      guard error.errno == .addressInUse else { throw .failed(error.errno) }
      throw .held(by: Self.holder(of: address))
    }
  }

  /// After this call, no process holds the name, even if copies of the descriptor exist: a socket
  /// that was shut down refuses connections.
  deinit { shutdown(socket.number, Int32(SHUT_RD)) }

  consuming func release() {}

  /// Returns whether a process holds the name.
  static func isHeld(_ name: String) -> Bool {
    let address = AbstractAddress(name)
    do throws(FileErrno.Failure) {
      let asking = try stream()
      let number = asking.number
      _ = try FileErrno.checked { address.call { connect(number, $0, $1) } }
      return true
    } catch {
      // After any error other than ECONNREFUSED, the name counts as held.
      return error.errno.rawValue != ECONNREFUSED
    }
  }

  private static func stream() throws(FileErrno.Failure) -> FileDescriptor {
    FileDescriptor(
      owning: try FileErrno.checked {
        Glibc.socket(
          AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
      })
  }

  private static func holder(of address: AbstractAddress) -> Int32? {
    do throws(FileErrno.Failure) {
      let asking = try stream()
      let number = asking.number
      _ = try FileErrno.checked { address.call { connect(number, $0, $1) } }
      // The fields of struct ucred (unix(7)): pid, uid and gid, 32 bits each.
      var credentials: [Int32] = [0, 0, 0]
      var size = socklen_t(credentials.count * MemoryLayout<Int32>.size)
      _ = try FileErrno.checked {
        getsockopt(number, SOL_SOCKET, SO_PEERCRED, &credentials, &size)
      }
      return credentials[0] > 0 ? credentials[0] : nil
    } catch {
      return nil
    }
  }
}

/// The address of a socket in the abstract namespace.
private struct AbstractAddress {
  private var address = sockaddr_un()
  private let size: socklen_t

  init(_ name: String) {
    let bytes = Array(name.utf8)
    precondition(bytes.count < MemoryLayout.size(ofValue: address.sun_path), "names are short")
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { path in
      // The first byte stays 0, which makes the name abstract.
      for (index, byte) in bytes.enumerated() { path[index + 1] = byte }
    }
    size = socklen_t(MemoryLayout<sa_family_t>.size + 1 + bytes.count)
  }

  func call(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
    }
  }
}
