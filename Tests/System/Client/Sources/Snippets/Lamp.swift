import OtaflashGATT
import Synchronization

/// A lamp: its brightness in percent is read, written and notified.
public final class Lamp: Sendable {
  public static let service: BluetoothUUID = "7b1c0011-52a8-4d3f-9c1e-0f2d6a4e8b90"
  public static let brightness: BluetoothUUID = "7b1c0012-52a8-4d3f-9c1e-0f2d6a4e8b90"

  private let percent = Mutex<UInt8>(100)

  public init() {}

  public var table: AttributeTable {
    AttributeTable(services: [
      LocalService(
        Self.service,
        characteristics: [
          LocalCharacteristic(
            Self.brightness, properties: [.read, .write, .notify],
            value: .dynamic(
              read: { [self] _ in .success([percent.withLock { $0 }]) },
              write: { [self] bytes, _ in set(bytes) }))
        ])
    ])
  }

  /// Serves one client, and dims the lamp by one percent per second.
  public func serve(_ link: some Link, on clock: any LinkClock) async {
    let server = GATTServer(table: table)
    let brightness = table.handle(of: Self.brightness)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { _ = await server.serve(link, clock: clock) }
      group.addTask { [self] in
        while await clock.pause(for: .seconds(1)) { server.notify(brightness, [dim()]) }
      }
      await group.next()
      group.cancelAll()
    }
  }

  /// Returns the error with which the value is refused.
  private func set(_ bytes: [UInt8]) -> ATTErrorCode? {
    guard bytes.count == 1 else { return .invalidAttributeValueLength }
    guard bytes[0] <= 100 else { return .outOfRange }
    percent.withLock { $0 = bytes[0] }
    return nil
  }

  private func dim() -> UInt8 {
    percent.withLock { percent in
      percent = percent > 0 ? percent - 1 : 0
      return percent
    }
  }
}
