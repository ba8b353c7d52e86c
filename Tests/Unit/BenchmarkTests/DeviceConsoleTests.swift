import OtaflashATT
import OtaflashDevices
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

/// The console of simulated devices in virtual time.
@Suite struct DeviceConsoleTests {
  private final class Recorder: Sendable {
    let events = Mutex<[ConsoleEvent]>([])
    let fault = Mutex<DeviceConsole.Fault?>(nil)
  }

  /// Shows the console for at most `limit`; returns its events, and the error that ended it.
  private static func show(
    _ profile: String, _ channel: ConsoleChannel = .automatic, for limit: Duration = .seconds(10),
    sending lines: [String] = []
  ) throws -> (events: [ConsoleEvent], fault: DeviceConsole.Fault?) {
    let timeline = VirtualTimeline()
    let board = try SimulatedBoard(
      profile: SimulationProfile(parsing: profile), clock: timeline.clock)
    let recorder = Recorder()
    try timeline.run { clock in
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await board.run() }
        group.addTask {
          let input = Mailbox<String>(capacity: 16)
          for line in lines { input.offer(line) }
          input.finish()
          let dialer = Dialer { () async throws(ConnectFault) -> any Link in
            try await board.dial()
          }
          let console = DeviceConsole(channel, clock: clock) { event in
            recorder.events.withLock { $0.append(event) }
          }
          do throws(DeviceConsole.Fault) {
            try await console.run(on: dialer, sending: input)
          } catch {
            recorder.fault.withLock { $0 = error }
          }
        }
        await clock.pause(for: limit)
        group.cancelAll()
      }
    }
    return (recorder.events.withLock { $0 }, recorder.fault.withLock { $0 })
  }

  @Test(arguments: ["sim:?log=1s", "sim:smp?log=1s"])
  func aLogIsShownLineByLine(_ profile: String) throws {
    let events = try Self.show(profile).events
    #expect(events.first == .opened("Nordic UART"))
    let lines = events.compactMap { if case .received(let line) = $0 { line } else { nil } }
    #expect(lines.count >= 8, "\(events)")
    #expect(lines.allSatisfy { $0.hasPrefix("[00:00:") && $0.hasSuffix(" °C") }, "\(lines)")
  }

  @Test func typedLinesAreAnswered() throws {
    let events = try Self.show("sim:?log=60s", sending: ["version", "echo a b"]).events
    #expect(events.contains(.sent("version")))
    #expect(events.contains(.received("otaflash board 1.2.0")), "\(events)")
    #expect(events.contains(.received("a b")))
  }

  @Test func theConsoleConnectsAgain() throws {
    let events = try Self.show("sim:?log=1s&cut-after=4s", for: .seconds(20)).events
    #expect(events.count { $0 == .opened("Nordic UART") } == 2, "\(events)")
    #expect(events.contains { if case .lost = $0 { true } else { false } })
    let last = try #require(events.lastIndex(of: .opened("Nordic UART")))
    #expect(events[last...].contains { if case .received = $0 { true } else { false } })
  }

  @Test func theShellOverSMPAnswersAndEndsWithItsInput() throws {
    let (events, fault) = try Self.show(
      "sim:smp?shell=yes", sending: ["version", "reboot-now"])
    #expect(
      events == [
        .opened("SMP shell"), .sent("version"), .received("Zephyr 1.2.0"), .sent("reboot-now"),
        .received("reboot-now: command not found"), .returned(-8),
      ])
    #expect(fault == nil)
  }

  @Test func aDeviceWithoutAShellRefusesTheCommand() throws {
    let fault = try Self.show("sim:smp", .shell, sending: ["version"]).fault
    guard case .shell = fault else {
      Issue.record("\(String(describing: fault))")
      return
    }
  }

  @Test func aDeviceWithoutAConsoleNamesItsCharacteristics() throws {
    guard case .absent(let absence) = try Self.show("sim:").fault else {
      Issue.record("a console was found")
      return
    }
    #expect(absence.candidates.count == 2, "\(absence)")
  }

  @Test func anyCharacteristicCanBeShown() throws {
    let uuid: BluetoothUUID = "6e400003-b5a3-f393-e0a9-e50e24dcca9e"
    let events = try Self.show("sim:?log=1s", .characteristic(uuid), sending: ["x"]).events
    #expect(events.contains(.notSent("x", because: "the characteristic cannot be written")))
    #expect(events.contains { if case .received = $0 { true } else { false } })
  }
}
