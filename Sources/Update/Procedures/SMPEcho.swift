import OtaflashGATT
import OtaflashWire

/// Measures the round trips of requests to a device over SMP: echo requests (group 0, command 0),
/// one after the other.
public struct SMPEcho: Sendable {
  /// The measured round trips.
  public struct Measurement: Equatable, Sendable {
    /// The time from each request to its response, in the order of the requests.
    public var roundTrips: [Duration] = []
    /// The number of requests without a response.
    public var lost = 0
  }

  private static let option = "CONFIG_MCUMGR_GRP_OS_ECHO"
  private static let answerLimit = Duration.seconds(2)

  /// The text that is sent, and that the device must return.
  public let text: String
  /// The number of requests, 1 or more.
  public let count: Int

  /// Creates a measurement.
  public init(_ text: String, count: Int = 1) {
    precondition(count >= 1)
    self.text = text
    self.count = count
  }

  /// The measurement as a command for a peripheral's queue.
  ///
  /// The command fails with `.protocolViolation` if the device returns another text, and with
  /// `.gatt(_, .timedOut)` if it responds to no request.
  public var command: Command<PeripheralTurn, Measurement, UpdateFault> {
    Command("echo") { (turn) async throws(UpdateFault) -> Measurement in
      defer { turn.disconnect() }
      let channel = try await SMPChannel(openedIn: turn)
      var measurement = Measurement()
      for _ in 0..<count {
        let began = turn.clock.now
        do throws(UpdateFault) {
          let result = try await channel.ask(
            SMPOS.Echo(text), .request, within: Self.answerLimit, tries: 1)
          try check(result)
          measurement.roundTrips.append(began.duration(to: turn.clock.now))
        } catch .gatt(.request, .timedOut) {
          measurement.lost += 1
        }
      }
      guard !measurement.roundTrips.isEmpty else {
        throw .gatt(.request, .timedOut(after: Self.answerLimit * count))
      }
      return measurement
    }
  }

  /// Performs the measurement over a new link.
  public func run(
    on dialer: Dialer, clock: any LinkClock
  ) async throws(UpdateFault) -> Measurement {
    try await command.run(on: dialer, clock: clock)
  }

  private func check(
    _ result: Result<SMPOS.Echo.Response, SMPRefusal>
  ) throws(UpdateFault) {
    switch result {
    case .success(let response):
      guard response.text == text else {
        throw .protocolViolation(.request, "it returned another text than was sent")
      }
    case .failure(let refusal) where refusal.isNotSupported:
      throw .declined(.request, .missing(Self.option, code: refusal.inWords.code))
    case .failure(let refusal): throw .declined(.request, refusal.inWords)
    }
  }
}
