import OtaflashATT
import OtaflashGATT

/// The console of an application: log lines and the answers to typed lines, over the Nordic UART
/// Service. Its commands are also the commands of the SMP shell.
final class BoardConsole: Sendable {
  private static let service: BluetoothUUID = "6e400001-b5a3-f393-e0a9-e50e24dcca9e"
  /// The characteristic that the host writes.
  private static let receive: BluetoothUUID = "6e400002-b5a3-f393-e0a9-e50e24dcca9e"
  /// The characteristic that the device notifies.
  private static let transmit: BluetoothUUID = "6e400003-b5a3-f393-e0a9-e50e24dcca9e"
  /// The largest value without an MTU exchange, in bytes. Real firmware often never sends more.
  private static let chunk = 20
  /// The maximum length of a typed line in bytes; the rest of a longer line is dropped.
  private static let lineMaximum = 256
  private static let pendingMaximum = 32

  private struct State: Sendable {
    /// The time of the first poll: the start of the application.
    var start: LinkInstant?
    var logged = 0
    var line: [UInt8] = []
    /// The texts to send, in order.
    var pending: [String] = []
  }

  private let commands: BoardCommands
  private let interval: Duration
  private let state = Shared(State())

  /// - Returns: `nil` if the board has no console.
  init?(of parts: BoardParts, runs version: String) {
    guard let interval = parts.settings.logInterval else { return nil }
    self.interval = interval
    commands = BoardCommands(name: parts.applicationName, version: version)
  }

  func services(wake: @escaping @Sendable () -> Void) -> [LocalService] {
    let written = AttributeValue.written { [weak self] bytes, _ in
      self?.received(bytes)
      wake()
      return nil
    }
    return [
      LocalService(
        Self.service,
        characteristics: [
          LocalCharacteristic(
            Self.receive, properties: [.write, .writeWithoutResponse], value: written),
          LocalCharacteristic(Self.transmit, properties: .notify, value: .fixed([])),
        ])
    ]
  }

  private func received(_ bytes: [UInt8]) {
    state.withLock { state in
      for byte in bytes {
        guard byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") else {
          if state.line.count < Self.lineMaximum { state.line.append(byte) }
          continue
        }
        guard !state.line.isEmpty else { continue }
        let line = String(decoding: state.line, as: UTF8.self)
        state.line = []
        guard state.pending.count < Self.pendingMaximum else { continue }
        state.pending.append(commands.answer(line).output)
      }
    }
  }

  /// Sends the pending texts and a log line that is due. Returns the time until the next log line.
  func poll(at now: LinkInstant, over server: GATTServer, _ table: AttributeTable) -> Duration {
    let (texts, wait) = state.withLock { state -> ([String], Duration) in
      let start = state.start ?? now
      state.start = start
      let uptime = start.duration(to: now)
      if uptime >= interval * state.logged {
        state.pending.append(commands.logLine(state.logged, at: uptime))
        state.logged = Int(uptime / interval) + 1
      }
      defer { state.pending = [] }
      return (state.pending, interval * state.logged - uptime)
    }
    let handle = table.handle(of: Self.transmit)
    for bytes in texts.map({ Array($0.utf8) }) {
      for first in stride(from: 0, to: bytes.count, by: Self.chunk) {
        // Without a subscriber the text is lost, as on a real device.
        server.notify(handle, Array(bytes[first..<min(first + Self.chunk, bytes.count)]))
      }
    }
    return wait
  }
}
