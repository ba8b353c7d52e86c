import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation

@testable import OtaflashUpdate

/// A raw write to a characteristic of the OAD service, or a pause in milliseconds.
enum OADStep: Sendable {
  case identify([UInt8])
  case block(Int, [UInt8])
  case control([UInt8])
  case pause(Int)
}

/// The result of a script of raw writes: the notifications as hexadecimal text, and the state of
/// the device.
struct OADScript: Sendable {
  let notices: [String]
  let running: [UInt8]
  let resets: Int

  /// Writes the values without response, with a pause after each value except a block, disconnects,
  /// and waits for a reset.
  static func run(
    _ steps: [OADStep], _ profile: String = "ti-oad?mtu=103"
  ) throws -> OADScript {
    let separator = profile.contains("?") ? "&" : "?"
    let flash = profile.contains("erase=") ? "" : "&erase=0&write=0"
    return try simulate("sim:\(profile)\(separator)slot=64K\(flash)") { board, clock in
      let command = Command<PeripheralTurn, [String], UpdateFault>("script") {
        (turn) async throws(UpdateFault) -> [String] in
        let client = try await turn.connect(requestingMTU: 517)
        do throws(GATTFault) { return try await write(steps, to: client, clock) } catch {
          throw .protocolViolation(.connect, "\(error)")
        }
      }
      let notices = try await command.run(on: board.dialer, clock: clock)
      _ = await clock.pause(for: .seconds(3))
      return OADScript(
        notices: notices, running: try board.runningImage(), resets: board.counters.resets)
    }
  }

  private static func write(
    _ steps: [OADStep], to client: GATTClient, _ clock: any LinkClock
  ) async throws(GATTFault) -> [String] {
    guard let found = try await OADAttributes.find(on: client) else { return [] }
    let verdicts = try await client.subscribe(to: found.identify, as: .notifications)
    let notices = try await client.subscribe(to: found.control, as: .notifications)
    var log: [String] = []
    func collect() {
      while let value = verdicts.poll() { log.append(hex(value.value)) }
      while let value = notices.poll() { log.append(hex(value.value)) }
    }
    for step in steps {
      var pause = 100
      switch step {
      case .identify(let bytes):
        try await client.writeWithoutResponse(bytes, to: found.identify)
      case .block(let number, let bytes):
        let value = OADBlock.encoded(number: UInt32(number), bytes[...])
        try await client.writeWithoutResponse(value, to: found.block)
        pause = 0
      case .control(let bytes): try await client.writeWithoutResponse(bytes, to: found.control)
      case .pause(let milliseconds): pause = milliseconds
      }
      if pause > 0 { _ = await clock.pause(for: .milliseconds(pause)) }
      collect()
    }
    _ = await clock.pause(for: .milliseconds(500))
    collect()
    return log
  }
}
