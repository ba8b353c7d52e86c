import OtaflashGATT

/// Reports each measurement of a heart rate strap, over as many connections as needed.
public func followHeartRate(
  of strap: Peripheral, reporting change: @escaping @Sendable ([UInt8]) -> Void
) async throws {
  try await strap.keepingConnected(.exponential(attempts: 5), reporting: printEvent) { client in
    // After a loss, this body restarts on a new connection.
    let measurement = try await client.characteristic(
      BluetoothUUID(0x2A37), in: BluetoothUUID(0x180D))
    for try await notification in try await client.subscribe(to: measurement) {
      change(notification.value)
    }
  }
}

private func printEvent(_ event: ReconnectionEvent) {
  switch event {
  case .willReconnect(let attempt, _, let wait, _): print("attempt \(attempt) in \(wait)")
  case .reconnected(let attempt): print("reconnected at attempt \(attempt)")
  default: break
  }
}
