import COtaflashBluetooth
import Glibc
import OtaflashATT
import OtaflashGATT

/// Accepts connections in the peripheral role, on the attribute channel of an advertising adapter.
///
/// bluetoothd may also listen on the channel. Linux accepts both listeners, and passes a host to
/// the listener that started last (observed with 6.12); a kernel that accepts only one listener
/// reports `.busy`.
public final class L2CAPListener: Sendable {
  private static let backlog: Int32 = 1

  private let socket: ListeningSocket

  /// Listens on the attribute channel.
  ///
  /// - Parameters:
  ///   - adapter: the address of the adapter; `nil` listens on all adapters.
  ///   - security: the minimum security of a link.
  public init(
    adapter: BluetoothAddress? = nil, security: SecurityLevel = .low
  ) throws(ConnectFault) {
    do throws(OpenFailure) {
      let descriptor = try L2CAPSocket.bound(to: adapter, security: security)
      guard listen(descriptor.raw, Self.backlog) == 0 else {
        throw OpenFailure.system(.bind, errno)
      }
      do throws(SystemError) {
        socket = try ListeningSocket(descriptor)
      } catch {
        throw OpenFailure.system(.socket, error.number)
      }
    } catch {
      throw Self.fault(error)
    }
  }

  /// Waits for the next central, and returns the link to it.
  public func accept() async throws(ConnectFault) -> L2CAPLink {
    do throws(SystemError) {
      return try L2CAPLink(try await socket.accept())
    } catch {
      if error.number == ECANCELED { throw .cancelled }
      throw Self.fault(.system(.completion, error.number))
    }
  }

  /// Stops listening. May be called twice.
  public func close() { _ = socket.close() }

  private static func fault(_ failure: OpenFailure) -> ConnectFault {
    switch failure {
    case .cancelled: .cancelled
    case .system(let stage, let number):
      ConnectFault(l2capError: number, at: stage, device: "the central")
    }
  }
}
