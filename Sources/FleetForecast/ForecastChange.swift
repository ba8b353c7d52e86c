import OtaflashATT
import OtaflashFleet
import OtaflashSimulation

/// A change of a campaign in the what-if table.
package enum ForecastChange: Hashable, Sendable {
  case adapters(Int)
  case withResponse
  case withoutResponse
  case phy(PHY)
  /// A different ATT_MTU, with link-layer payloads of 251 bytes.
  case largerPackets(mtu: Int)
  case smallerPackets(mtu: Int)
  case interval(ConnectionInterval)
  /// A lower share of lost packets, 0…1.
  case loss(Double)
  case oneAtATime

  private static let adaptersMaximum = 64
  private static let mtuMaximum = 512
  /// The ATT_MTU at which a PDU fits one packet of 251 bytes.
  private static let smallMTU = 247

  /// Returns the useful changes of a campaign, four to eight.
  static func all(for trial: CampaignSimulation) -> [ForecastChange] {
    let (fleet, flash) = (trial.fleet, trial.campaign.flash)
    let settings = fleet.settings
    var changes: [ForecastChange] = []
    if fleet.adapterCount < adaptersMaximum { changes.append(.adapters(fleet.adapterCount + 1)) }
    if fleet.adapterCount > 1 { changes.append(.adapters(fleet.adapterCount - 1)) }
    switch flash.writing {
    case .auto, .withoutResponse: changes.append(.withResponse)
    case .withResponse: changes.append(.withoutResponse)
    }
    changes.append(.phy(settings.radio.phy == .le2M ? .le1M : .le2M))
    let mtu = min(flash.mtu, settings.mtu)
    let isLarge = mtu >= mtuMaximum - 14 && settings.radio.payloadMaximum == 251
    changes.append(isLarge ? .smallerPackets(mtu: smallMTU) : .largerPackets(mtu: mtuMaximum))
    if settings.radio.interval != .shortest { changes.append(.interval(.shortest)) }
    if settings.radio.packetErrorRate > 0 {
      changes.append(.loss(settings.radio.packetErrorRate / 2))
    }
    if trial.campaign.parallel != 1 { changes.append(.oneAtATime) }
    return changes
  }

  func applied(to trial: CampaignSimulation) -> CampaignSimulation {
    var trial = trial
    switch self {
    case .adapters(let count): trial.fleet.adapterCount = count
    case .withResponse: trial.campaign.flash.writing = .withResponse
    case .withoutResponse: trial.campaign.flash.writing = .withoutResponse
    case .phy(let phy): trial.fleet.changeBoards { $0.radio.phy = phy }
    case .largerPackets(let mtu):
      trial.campaign.flash.mtu = mtu
      trial.fleet.changeBoards {
        $0.mtu = max($0.mtu, mtu)
        $0.radio.payloadMaximum = 251
      }
    case .smallerPackets(let mtu): trial.campaign.flash.mtu = mtu
    case .interval(let interval): trial.fleet.changeBoards { $0.radio.interval = interval }
    case .loss(let share): trial.fleet.changeBoards { $0.radio.packetErrorRate = share }
    case .oneAtATime: trial.campaign.parallel = 1
    }
    return trial
  }
}
