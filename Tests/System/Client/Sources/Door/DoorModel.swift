import OtaflashFirmware
import OtaflashGATT
import OtaflashUpdate
import Synchronization

/// The model of a screen of the app: one door, as long as the screen exists.
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

  /// All attributes of the door, for a diagnosis page.
  public func inventory() async throws(PeripheralFault) -> [String] {
    try await peripheral.perform("inventory", within: .seconds(10)) {
      (client) async throws(GATTFault) -> [String] in
      var lines: [String] = []
      for service in try await client.services() {
        for characteristic in try await client.characteristics(of: service) {
          let names = [service.uuid, characteristic.uuid].map { "\($0)" }
          lines.append("\(names[0]) \(names[1]) \(characteristic.properties)")
        }
      }
      return lines
    }
  }

  /// Observes the door until `body` returns false, over as many connections as needed.
  public func follow(
    reporting attempt: @escaping (ReconnectionEvent) -> Void,
    _ body: (DoorState) -> Bool
  ) async throws {
    try await peripheral.keepingConnected(.constant(.seconds(1), attempts: 10), reporting: attempt)
    {
      client in
      let state = try await client.characteristic(.doorState, in: .door)
      for try await value in try await client.subscribe(to: state) {
        guard body(try DoorState(decoding: value.value)) else { return }
      }
    }
  }

  /// Returns a queue whose commands connect first, send the code, and have a time limit.
  public func authorized(by code: UInt8) -> some CommandPerformer<PeripheralTurn> {
    let authorize = Command<PeripheralTurn, Void, PeripheralFault>(onConnection: "authorize") {
      (client) async throws(GATTFault) in
      try await client.write([code], to: try await client.characteristic(.doorCode, in: .door))
    }
    return peripheral.preceded(by: authorize).timeLimit(.seconds(10), on: peripheral.clock)
  }

  /// The update runs as one command of the door's queue, so no other command interrupts it. An
  /// interrupted update is resumed up to `attempts` times; the user sees every other failure.
  public func update(
    to image: FirmwareImage, options: UpdateOptions = UpdateOptions(), attempts: Int = 3,
    reporting progress: @escaping @Sendable (Int) -> Void = { _ in }
  ) async throws(QueueFault<UpdateFault>) -> UpdateResult {
    let update = FirmwareUpdate(image: image, options: options) { event in
      if case .progress(let acknowledged, let total) = event {
        progress(100 * acknowledged / total)
      }
    }
    let command = update.command.retrying(
      .constant(.seconds(2), attempts: attempts), on: peripheral.clock
    ) { fault in
      if case .linkLost(_, _, resumable: true, _) = fault { true } else { false }
    }
    return try await peripheral.perform(command)
  }
}

/// A custom decorator: records the outcome of each command of a queue.
public final class Logbook: CommandDecorator {
  public typealias Context = PeripheralTurn

  private let entries = Mutex<[String]>([])

  public init() {}

  public var lines: [String] { entries.withLock { $0 } }

  public func decorate<Output, Failure>(
    _ command: Command<PeripheralTurn, Output, QueueFault<Failure>>
  ) -> Command<PeripheralTurn, Output, QueueFault<Failure>> {
    Command(command.name) { [self] (turn) async throws(QueueFault<Failure>) -> Output in
      do throws(QueueFault<Failure>) {
        let output = try await command.run(with: turn)
        note("\(command.name): done")
        return output
      } catch {
        note("\(command.name): failed")
        throw error
      }
    }
  }

  private func note(_ line: String) { entries.withLock { $0.append(line) } }
}
