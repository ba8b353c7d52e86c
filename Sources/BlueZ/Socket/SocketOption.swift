import COtaflashBluetooth
import Glibc

/// `getsockopt` and `setsockopt` for the C values that the links use.
enum SocketOption {
  static func set<Value: BitwiseCopyable>(
    _ raw: Int32, _ level: Int32, _ name: Int32, _ value: Value
  ) throws(SystemError) {
    var value = value
    let size = socklen_t(MemoryLayout<Value>.size)
    guard setsockopt(raw, level, name, &value, size) == 0 else { throw SystemError(errno) }
  }

  static func get<Value: BitwiseCopyable>(
    _ raw: Int32, _ level: Int32, _ name: Int32, into value: inout Value
  ) throws(SystemError) {
    var size = socklen_t(MemoryLayout<Value>.size)
    guard getsockopt(raw, level, name, &value, &size) == 0 else { throw SystemError(errno) }
  }

  /// Reads and clears the pending error of the socket; returns 0 for no error.
  static func pendingError(of raw: Int32) -> Int32 {
    var number: Int32 = 0
    do throws(SystemError) {
      try get(raw, SOL_SOCKET, SO_ERROR, into: &number)
    } catch {
      return error.number
    }
    return number
  }
}

/// Calls `body` with the address in the form that socket calls require.
func withSocketAddress<Address: BitwiseCopyable, Result>(
  _ address: Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) -> Result {
  withUnsafeBytes(of: address) { bytes in
    guard let start = bytes.baseAddress else { preconditionFailure("an address has bytes") }
    return body(
      start.assumingMemoryBound(to: sockaddr.self), socklen_t(MemoryLayout<Address>.size))
  }
}
