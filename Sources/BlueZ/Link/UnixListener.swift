import Glibc
import OtaflashATT
import OtaflashGATT

/// A Unix SEQPACKET socket that devices made of software listen on.
public final class UnixListener: Sendable {
  /// Connections that may wait for `accept`.
  private static let backlog: Int32 = 16

  /// Where the socket file lies.
  public let path: String
  private let socket: ListeningSocket

  /// Listens at `path`. A socket file that nobody listens on is replaced; one with a listener, or
  /// a file of another kind, is left alone and refused: `.busy`, and `.systemCall`.
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

  /// The next connection.
  /// - Throws: `.cancelled`; `.systemCall` when the listener is closed or out of descriptors.
  public func accept() async throws(ConnectFault) -> UnixLink {
    do throws(SystemError) {
      return try UnixLink(try await socket.accept())
    } catch {
      if error.number == ECANCELED { throw .cancelled }
      throw ConnectFault(unixError: error.number, at: .connect, path: path)
    }
  }

  /// Stops listening and removes the socket file. Safe to call twice.
  public func close() {
    if socket.close() { _ = unlink(path) }
  }

  /// A socket file outlives its process; only a refused connection proves that nobody listens.
  private static func isStale(_ address: UnixAddress) throws(SystemError) -> Bool {
    guard UnixAddress.isSocket(address.path) else { return false }
    return address.connect(try UnixAddress.socket()) == ECONNREFUSED
  }
}
