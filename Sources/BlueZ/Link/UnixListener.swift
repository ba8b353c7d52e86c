import Glibc
import OtaflashATT
import OtaflashGATT

/// A Unix SEQPACKET socket on which software devices listen.
public final class UnixListener: Sendable {
  /// The maximum number of connections that wait for `accept`.
  private static let backlog: Int32 = 16

  /// The path of the socket file.
  public let path: String
  private let socket: ListeningSocket

  /// Listens at `path`. A socket file without a listener is replaced. For a socket with a listener
  /// the call fails with `.busy`, for a file of another kind with `.systemCall`.
  public init(path: String) throws(ConnectFault) {
    let address = try UnixAddress(path)
    do throws(SystemError) {
      let descriptor = try UnixAddress.socket()
      var result = address.bind(descriptor)
      if result == EADDRINUSE, try Self.isStale(address) {
        _ = unlink(path)
        result = address.bind(descriptor)
      }
      guard result == 0 else { throw SystemError(result) }
      guard listen(descriptor.raw, Self.backlog) == 0 else { throw SystemError(errno) }
      socket = try ListeningSocket(descriptor)
    } catch {
      throw ConnectFault(unixError: error.number, at: .bind, path: path)
    }
    self.path = path
  }

  deinit { close() }

  /// Returns the next connection.
  ///
  /// - Throws: `.cancelled`; `.systemCall` if the listener is closed or no descriptor is left.
  public func accept() async throws(ConnectFault) -> UnixLink {
    do throws(SystemError) {
      return try UnixLink(try await socket.accept())
    } catch {
      if error.number == ECANCELED { throw .cancelled }
      throw ConnectFault(unixError: error.number, at: .connect, path: path)
    }
  }

  /// Stops listening and removes the socket file. May be called twice.
  public func close() {
    if socket.close() { _ = unlink(path) }
  }

  /// Returns whether the socket file was left by a process that has ended: a refused connection
  /// shows that no process listens.
  private static func isStale(_ address: UnixAddress) throws(SystemError) -> Bool {
    guard UnixAddress.isSocket(address.path) else { return false }
    return address.connect(try UnixAddress.socket()) == ECONNREFUSED
  }
}
