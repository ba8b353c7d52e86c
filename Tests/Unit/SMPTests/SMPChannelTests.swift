import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashWire
import Testing

@testable import OtaflashUpdate

@Suite struct SMPChannelTests {
  private static let old = bootableBytes(MCUbootVersion(1, 0, 0))
  /// Three writes at the ATT_MTU that the host requests.
  private static let long = SMPOS.Echo(String(repeating: "x", count: 1_300))

  private static func server(
    _ adjust: (inout FakeServer.Settings) -> Void = { _ in }
  ) -> FakeServer {
    var settings = FakeServer.Settings()
    settings.bufferSize = 2_000
    adjust(&settings)
    return FakeServer(running: old, settings)
  }

  /// Runs `body` with a channel to the server; each write on the channel takes 10 ms.
  private func withChannel<Value: Sendable>(
    _ server: FakeServer,
    _ body: @escaping @Sendable (SMPChannel, VirtualClock) async throws(UpdateFault) -> Value
  ) throws -> Value {
    let (result, _) = try withServer(server, pace: .milliseconds(10)) {
      (dialer, clock) -> Result<Value, UpdateFault> in
      let command = Command<PeripheralTurn, Value, UpdateFault>("test") {
        (turn) async throws(UpdateFault) -> Value in
        try await body(try await SMPChannel(openedIn: turn), clock)
      }
      do throws(UpdateFault) {
        return .success(try await command.run(on: dialer, clock: clock))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  @Test("the fragments of requests from several tasks never mix")
  func oneWriter() throws {
    let server = Self.server()
    try withChannel(server) { (channel, clock) async throws(UpdateFault) in
      await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<4 {
          group.addTask {
            do throws(UpdateFault) {
              _ = try await channel.send(Self.long, .upload)
              return true
            } catch {
              return false
            }
          }
        }
        for await sent in group { #expect(sent) }
      }
      await clock.pause(for: .milliseconds(100))
    }
    #expect(server.state.commands == [SMPCommand](repeating: SMPOS.Echo.command, count: 4))
  }

  @Test("a request of a cancelled sender is completed before the disconnection")
  func finishing() throws {
    let server = Self.server()
    let (cut, finished) = try withChannel(server) {
      (channel, clock) async throws(UpdateFault) -> (Bool, Bool) in
      do throws(UpdateFault) {
        let deadline = clock.now.advanced(by: .milliseconds(15))
        try await withDeadline(deadline, on: clock, orThrow: .gatt(.upload, .cancelled)) {
          () async throws(UpdateFault) in _ = try await channel.send(Self.long, .upload)
        }
      } catch .gatt(.upload, .cancelled) {
        // The message is interrupted as intended.
      }
      let cut = server.state.reassembly.isInMessage
      try await channel.finishMessage()
      await clock.pause(for: .milliseconds(50))
      return (cut, !server.state.reassembly.isInMessage)
    }
    #expect(cut && finished)
    #expect(server.state.commands == [SMPOS.Echo.command])
  }

  @Test("a request is repeated, and the wait for a silent server ends in time")
  func silence() throws {
    let server = Self.server { $0.silent = [SMPOS.Parameters.command] }
    #expect(throws: UpdateFault.gatt(.connect, .timedOut(after: .seconds(15)))) {
      try withChannel(server) { (channel, _) async throws(UpdateFault) in
        _ = try await channel.perform(SMPOS.Parameters(), .connect)
      }
    }
    #expect(server.state.commands.count == SMPChannel.triesDefault)
  }

  @Test("a lost link ends every wait")
  func lostLink() throws {
    let server = Self.server { settings in
      settings.silent = [SMPOS.Parameters.command]
      settings.linkEndsAfter = 1
    }
    let image = bootableBytes(MCUbootVersion(1, 0, 0))
    #expect(throws: UpdateFault.gatt(.upload, .linkLost(.closedByPeer))) {
      try withChannel(server) { (channel, clock) async throws(UpdateFault) in
        _ = try await channel.send(
          SMPImage.Upload(offset: 0, data: Array(image.prefix(100))), .upload)
        _ = try await channel.receive(before: clock.now.advanced(by: .seconds(60)), .upload)
      }
    }
  }

  @Test("a server of version 1 receives requests of version 1")
  func firstVersion() throws {
    let server = Self.server { $0.isVersion1 = true }
    let versions = try withChannel(server) {
      (channel, _) async throws(UpdateFault) -> [SMPVersion] in
      let before = channel.version
      _ = try await channel.perform(SMPOS.Parameters(), .connect)
      return [before, channel.version]
    }
    #expect(versions == [.v2, .v1])
  }

  @Test("late and unrelated responses are counted and ignored")
  func ignored() throws {
    let server = Self.server { $0.strayAnswers = true }
    let ignored = try withChannel(server) {
      (channel, _) async throws(UpdateFault) -> SMPExchange.Ignored in
      for _ in 0..<3 { _ = try await channel.perform(SMPOS.Echo("x"), .connect) }
      return channel.ignored
    }
    // Before each response, the server sends a response to another command, a response with the
    // previous sequence number, and an invalid message.
    #expect(ignored == SMPExchange.Ignored(late: 3, alien: 3, malformed: 3))
  }
}
