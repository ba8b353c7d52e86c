import OtaflashATT
import OtaflashGATT

extension Command where Context == PeripheralTurn, Failure == UpdateFault {
  /// Runs the command on a new peripheral, and closes its connection at the end.
  func run(on dialer: Dialer, clock: any LinkClock) async throws(UpdateFault) -> Output {
    try await withPeripheral(dialer, clock: clock) {
      (peripheral) async throws(UpdateFault) -> Output in
      do throws(QueueFault<UpdateFault>) {
        return try await peripheral.perform(self)
      } catch {
        switch error {
        case .failed(let fault): throw fault
        // A private queue has no decorators and no other commands.
        case .cancelledInQueue, .full, .closed, .timedOut, .preparationFailed:
          throw .cancelled(resumable: false, acknowledged: 0)
        }
      }
    }
  }
}

extension PeripheralTurn {
  /// Connects, exchanges the MTU, and returns the client. Every procedure in this target starts
  /// with these steps. Nothing is written before the device is identified, because another device
  /// may have accepted the connection. Each connection repeats the discovery.
  func connect(requestingMTU mtu: Int) async throws(UpdateFault) -> GATTClient {
    let client: GATTClient
    let receiveMTU = ATTMTU(clamping: mtu)
    do throws(ConnectFault) {
      client = try await connect(receiveMTU: receiveMTU, followsServiceChanges: false)
    } catch {
      throw .couldNotConnect(error)
    }
    do throws(GATTFault) { _ = try await client.requestMTU(mtu) } catch {
      throw .gatt(.connect, error)
    }
    return client
  }
}
