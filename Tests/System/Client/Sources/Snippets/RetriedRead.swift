import OtaflashGATT

public typealias TextCommand = Command<PeripheralTurn, String, PeripheralFault>

/// A read of the model number, as one command of the queue.
private let readModel = TextCommand(onConnection: "read the model") {
  (client) async throws(GATTFault) in
  let model = try await client.characteristic(BluetoothUUID(0x2A24), in: BluetoothUUID(0x180A))
  return String(decoding: try await client.read(model), as: UTF8.self)
}

/// Four attempts within five seconds.
public func readModelQuickly(on clock: any LinkClock) -> TextCommand {
  readModel
    .retrying(.linear(attempts: 3), on: clock) { fault in
      if case .gatt(.refused(_, .insufficientResources)) = fault { true } else { false }
    }
    .timeLimit(.seconds(5), orThrow: .gatt(.timedOut(after: .seconds(5))))
}

/// Two attempts of two seconds, each on its own connection.
public func readModelPatiently(on clock: any LinkClock) -> TextCommand {
  readModel
    .timeLimit(.seconds(2), orThrow: .gatt(.timedOut(after: .seconds(2))))
    .retrying(.constant(.seconds(1), attempts: 1), on: clock) { _ in true }
}
