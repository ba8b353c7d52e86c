import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashUpdate
import Synchronization

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

  /// All that the door offers, as a page for its maker shows it.
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

  /// The update takes its turn in the door's queue: nothing comes between its steps. What the door
  /// keeps is gone on with, `attempts` times; every other failure is for the user to read.
  public func update(
    to image: FirmwareImage, options: UpdateOptions = UpdateOptions(), attempts: Int = 3,
    telling progress: @escaping @Sendable (Int) -> Void = { _ in }
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

/// A decorator of the app's own: notes how each command of a queue ended.
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
