import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashUpdate

/// What a screen of the app holds: one door, for as long as the screen is there.
public final class DoorModel: Sendable {
  public let peripheral: Peripheral

  public init(_ dialer: Dialer, clock: any LinkClock) {
    peripheral = Peripheral(dialer, clock: clock)
  }

  public func state() async throws -> DoorState {
    try await peripheral.perform("door state") { client in
      let state = try await client.characteristic(.doorState, in: .door)
      return try DoorState(decoding: try await client.read(state))
    }
  }

  /// Follows the door until `body` has seen enough, over as many connections as that takes.
  public func follow(
    telling attempt: @escaping (ReconnectionEvent) -> Void,
    _ body: (DoorState) -> Bool
  ) async throws {
    try await peripheral.keepingConnected(.constant(.seconds(1), attempts: 10), telling: attempt) {
      client in
      let state = try await client.characteristic(.doorState, in: .door)
      for try await value in try await client.subscribe(to: state) {
        guard body(try DoorState(decoding: value.value)) else { return }
      }
    }
  }

  /// Each command through this queue connects first, proves that it may, and ends in time.
  public func authorized(by code: UInt8) -> some CommandPerformer<PeripheralTurn> {
    let authorize = Command<PeripheralTurn, Void, PeripheralFault>(onConnection: "authorize") {
      (client) async throws(GATTFault) in
      try await client.write([code], to: try await client.characteristic(.doorCode, in: .door))
    }
    return peripheral.preceded(by: authorize).timeLimit(.seconds(10), on: peripheral.clock)
  }

  /// The update takes its turn in the door's queue: nothing comes between its steps.
  public func update(
    to image: FirmwareImage, telling progress: @escaping @Sendable (Int) -> Void
  ) async throws -> UpdateResult {
    let update = FirmwareUpdate(image: image) { event in
      if case .progress(let acknowledged, let total) = event {
        progress(100 * acknowledged / total)
      }
    }
    return try await peripheral.perform(update.command)
  }
}
