import OtaflashATT

/// What the faults of a plan do to the PDUs between any board's stack and its radio. Kept for the
/// life of the board, so that what happens once happens once.
struct FaultFilter {
  private static let mtuLieBytes = 100
  /// Half a second less than an ATT transaction may take (Core 5.4, Vol 3, Part F, 3.3.3).
  private static let lateness = Duration.milliseconds(29_500)

  private let plan: FaultPlan
  private var random: SeededRandom
  private var pdusSent = 0

  init(plan: FaultPlan, random: SeededRandom) {
    self.plan = plan
    self.random = random
  }

  /// Whether the board ever sees a PDU from the host.
  func hears(_ pdu: [UInt8]) -> Bool {
    !plan.contains(.silent) && !(plan.contains(.mtuLie) && pdu.count > Self.mtuLieBytes)
  }

  /// Whether a PDU to the host is lost.
  mutating func loses(_ pdu: [UInt8]) -> Bool {
    pdu.first == ATTOpcode.handleValueNotification.rawValue
      && random.happens(withProbability: plan.share(of: .notificationLoss))
  }

  /// What happens around the next PDU to the host: how long it is held back, what goes before it.
  mutating func departure() -> (delay: Duration, nonsense: [UInt8]?) {
    pdusSent += 1
    let delay = pdusSent == plan.count(of: .latePDU) ? Self.lateness : .zero
    guard random.happens(withProbability: plan.share(of: .nonsensePDUs)) else {
      return (delay, nil)
    }
    return (delay, random.bytes(count: Int.random(in: 1...20, using: &random)))
  }
}
