import OtaflashGATT
import OtaflashWire

/// The shell of a device over SMP (group 9), on one connection.
package struct ShellSession: Sendable {
  /// The output of a command, and its return code; 0 = success.
  package struct Output: Equatable, Sendable {
    package let text: String
    package let code: Int32
  }

  /// The time limit for a command.
  private static let limit = Duration.seconds(30)

  private let channel: SMPChannel

  /// Finds the SMP service, and subscribes to its responses.
  package init(on client: GATTClient, clock: any LinkClock) async throws(UpdateFault) {
    channel = try await SMPChannel(
      on: client,
      UpdateContext(
        clock: clock, options: UpdateOptions(), tally: UpdateProgressState(), observe: { _ in }))
  }

  /// Runs one line, and returns its output. A command may have an effect, so it is sent only once.
  ///
  /// - Throws: `.declined` if the device has no shell.
  package func run(_ line: String) async throws(UpdateFault) -> Output {
    let words = line.split(separator: " ").map(String.init)
    let sequence = try await channel.send(SMPShell.Execute(words), .connect)
    let deadline = channel.clock.now.advanced(by: Self.limit)
    while let reply = try await channel.receive(before: deadline, .connect) {
      guard reply.sequence == sequence else { continue }
      let answer = try decoding(.connect) {
        () throws(SMPDecodeFault) -> Result<SMPShell.Execute.Response, SMPRefusal> in
        try reply.message.shellAnswer()
      }
      switch answer {
      case .success(let response): return Output(text: response.output, code: response.code)
      case .failure(let refusal): throw .declined(.connect, refusal.inWords)
      }
    }
    throw .gatt(.connect, .timedOut(after: Self.limit))
  }
}
