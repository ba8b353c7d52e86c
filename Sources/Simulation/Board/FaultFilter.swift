import OtaflashATT

/// Applies the faults of a plan to the PDUs between a board's stack and its radio. An instance
/// lives as long as the board, so that a fault that occurs once is not repeated.
struct FaultFilter {
  private static let mtuLieBytes = 100
  /// The delay of a late answer: half a second less than the ATT transaction timeout (Core 5.4, Vol
  /// 3, Part F, 3.3.3).
  private static let lateness = Duration.milliseconds(29_500)

  private let plan: FaultPlan
  private var random: SeededRandom
  private var pdusSent = 0

  init(plan: FaultPlan, random: SeededRandom) {
    self.plan = plan
    self.random = random
  }

  /// Returns whether the board receives a PDU from the host.
  func receives(_ pdu: [UInt8]) -> Bool {
    !plan.contains(.silent) && !(plan.contains(.mtuLie) && pdu.count > Self.mtuLieBytes)
  }

  /// Returns whether a PDU to the host is lost.
  mutating func loses(_ pdu: [UInt8]) -> Bool {
    pdu.first == ATTOpcode.handleValueNotification.rawValue
      && random.happens(withProbability: plan.share(of: .notificationLoss))
  }

  /// Returns the delay of the next PDU to the host, and a random PDU to send before it; `nil` = no
  /// random PDU.
  mutating func departure() -> (delay: Duration, nonsense: [UInt8]?) {
    pdusSent += 1
    let delay = pdusSent == plan.count(of: .latePDU) ? Self.lateness : .zero
    guard random.happens(withProbability: plan.share(of: .nonsensePDUs)) else {
      return (delay, nil)
    }
    return (delay, random.bytes(count: Int.random(in: 1...20, using: &random)))
  }
}
