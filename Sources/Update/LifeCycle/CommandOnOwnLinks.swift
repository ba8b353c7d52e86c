import OtaflashATT
import OtaflashGATT

extension Command where Context == PeripheralTurn, Failure == UpdateFault {
  /// Runs the command on a peripheral of its own, whose connection is closed when it has ended.
  func run(on dialer: Dialer, clock: any LinkClock) async throws(UpdateFault) -> Output {
    try await withPeripheral(dialer, clock: clock) {
      (peripheral) async throws(UpdateFault) -> Output in
      do throws(QueueFault<UpdateFault>) {
        return try await peripheral.perform(self)
      } catch {
        switch error {
        case .failed(let fault): throw fault
        // A queue of its own has no decorators and nobody who waits.
        case .cancelledInQueue, .full, .closed, .timedOut, .preparationFailed:
          throw .cancelled(resumable: false, acknowledged: 0)
        }
      }
    }
  }
}

extension PeripheralTurn {
  /// A connection with its MTU exchanged, where every procedure of this target begins. What is
  /// found there may be another device than the one that was meant, so nothing is written to it
  /// before it was recognized; and each connection discovers anew.
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
