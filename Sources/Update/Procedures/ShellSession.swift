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

  init(over channel: SMPChannel) { self.channel = channel }

  /// Runs one line, and returns its output. A command may have an effect, so it is sent only once.
  ///
  /// - Throws: `.declined` if the server refuses the request, for example because it has no shell.
  package func run(_ line: String) async throws(UpdateFault) -> Output {
    switch try await run(line.split(separator: " ").map(String.init)) {
    case .success(let output): return output
    case .failure(let refusal): throw .declined(.connect, refusal.inWords)
    }
  }

  /// Runs one line with these words, and returns its output or the refusal of the server.
  func run(_ words: [String]) async throws(UpdateFault) -> Result<Output, SMPRefusal> {
    let sequence = try await channel.send(SMPShell.Execute(words), .connect)
    let deadline = channel.clock.now.advanced(by: Self.limit)
    while let reply = try await channel.receive(before: deadline, .connect) {
      guard reply.sequence == sequence else { continue }
      let answer = try decoding(.connect) {
        () throws(SMPDecodeFault) -> Result<SMPShell.Execute.Response, SMPRefusal> in
        try reply.message.shellAnswer()
      }
      return answer.map { Output(text: $0.output, code: $0.code) }
    }
    throw .gatt(.connect, .timedOut(after: Self.limit))
  }
}
