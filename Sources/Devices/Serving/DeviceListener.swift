import Glibc
import OtaflashATT
import OtaflashBlueZ
import OtaflashGATT

/// The endpoint at which a simulated device waits for hosts.
package protocol DeviceListener: Sendable {
  /// The selector with which a host connects to the device.
  var selector: String { get }

  /// Waits for the next host, calls `connected`, and serves the host until it disconnects.
  func serveNext(
    _ device: SimulatedDevice, connected: @Sendable () -> Void
  ) async throws(ConnectFault)

  func close()

  /// Runs `body` while hosts can reach the device.
  func serve<Success: Sendable>(while body: @escaping @Sendable () async -> Success) async
    -> Success
}

extension DeviceListener {
  package func serve<Success: Sendable>(
    while body: @escaping @Sendable () async -> Success
  ) async -> Success { await body() }
}

/// A Unix socket, with a modeled radio.
package struct SocketListener: DeviceListener {
  private let listener: UnixListener

  package init(path: String) throws(CommandFault) {
    do throws(ConnectFault) {
      listener = try UnixListener(path: path)
    } catch .systemCall(_, let errno, let cause, _) where errno == ENOENT || errno == ENOTDIR {
      throw .simulation("cannot listen: \(cause)", errno: errno)
    } catch {
      throw .connect(error)
    }
  }

  package var selector: String { "unix:" + listener.path }

  package func serveNext(
    _ device: SimulatedDevice, connected: @Sendable () -> Void
  ) async throws(ConnectFault) {
    let host = try await listener.accept()
    connected()
    do throws(ConnectFault) {
      await LinkBridge(near: host, far: try await device.dial()).run()
    } catch {
      // A device that refuses this host may accept the next host.
      host.close()
      if error == .cancelled { throw error }
    }
  }

  package func close() { listener.close() }
}

/// A real adapter in the peripheral role: advertises, and listens on the attribute channel.
package struct RadioListener: DeviceListener {
  private let listener: L2CAPListener
  private let advertiser: Advertiser
  private let pairing: PairingAgent

  package init(
    adapter: UInt16, advertisement: PeripheralAdvertising, pairing: PairingAgent
  ) async throws(CommandFault) {
    self.pairing = pairing
    do throws(MgmtFault) {
      advertiser = try await Advertiser(adapter: adapter)
    } catch {
      throw .survey(error)
    }
    do throws(ConnectFault) {
      listener = try L2CAPListener(adapter: advertiser.address)
    } catch {
      throw .connect(error)
    }
    // The device listens before it advertises, because a host that reacts to the first
    // advertisement must be able to connect.
    do throws(MgmtFault) { try await advertiser.start(advertisement) } catch {
      throw .survey(error)
    }
  }

  package var selector: String { advertiser.address.description }

  package func serveNext(
    _ device: SimulatedDevice, connected: @Sendable () -> Void
  ) async throws(ConnectFault) {
    let socket = try await listener.accept()
    let central = socket.peer
    connected()
    let host = HostLink(socket)
    await device.serve(host)
    // The kernel would keep the link for another 4 s. A host that reconnects in this time would
    // find no listener on the channel. A host that ended the link itself may already have
    // reconnected.
    if let central, !host.isEndedByHost { advertiser.disconnect(central) }
  }

  package func serve<Success: Sendable>(
    while body: @escaping @Sendable () async -> Success
  ) async -> Success { await pairing.serve(while: body) }

  package func close() {
    listener.close()
    advertiser.stop()
  }
}
