import OtaflashFleet
import OtaflashFleetForecast
import OtaflashSimulation

/// A comparison of the automatic number of concurrent transfers on an adapter with fixed numbers.
struct LearnedPlaces {
  struct Row {
    let name: String
    /// The number of devices per hour, by the number of concurrent transfers.
    let fixed: [(places: Int, rate: Double)]
    let learned: Double

    var best: (places: Int, rate: Double) { fixed.max { $0.rate < $1.rate } ?? (1, 0) }
    var learnedShare: Double { learned / best.rate }
    /// The rate relative to the rate of one device after another.
    var gain: Double { learned / (fixed.first { $0.places == 1 }?.rate ?? 1) }
  }

  struct Profile {
    let name: String
    let boards: String
    let withoutResponse: Bool
  }

  static let profiles = [
    Profile(name: "with response", boards: "kinds=fast", withoutResponse: false),
    Profile(name: "without response", boards: "kinds=fast", withoutResponse: true),
    Profile(
      name: "with response, 7.5 ms", boards: "kinds=fast&interval=7.5ms", withoutResponse: false),
    Profile(
      name: "without response, 50 ms", boards: "kinds=fast&interval=50ms&ring=60K",
      withoutResponse: true),
    Profile(
      name: "with response, 50 ms", boards: "kinds=fast&interval=50ms", withoutResponse: false),
    Profile(name: "without response, 1M", boards: "kinds=fast&phy=1M", withoutResponse: true),
    Profile(name: "with response, MTU 23", boards: "kinds=fast&mtu=23", withoutResponse: false),
    Profile(name: "with response, 5 % lost", boards: "kinds=fast&loss=5%", withoutResponse: false),
    Profile(name: "without response, slow flash", boards: "kinds=plain", withoutResponse: true),
    Profile(
      name: "with response, flash of 400 ms per page", boards: "kinds=erase-400ms",
      withoutResponse: false),
  ]

  private static let numbers = [1, 2, 3, 4, 6, 8, 12, 16]

  let devices: Int
  var numbers = LearnedPlaces.numbers

  func row(of profile: Profile) throws -> Row {
    Row(
      name: profile.name,
      fixed: try numbers.map { ($0, try rate(of: profile, places: $0)) },
      learned: try rate(of: profile, places: nil))
  }

  /// The number of devices per hour on one adapter.
  private func rate(of profile: Profile, places: Int?) throws -> Double {
    let fleet = try FleetProfile(parsing: "\(devices)?slot=96K&\(profile.boards)")
    let trial = try FleetSwarm.trial(
      fleet, waves: [("all", .rest)], withoutResponse: profile.withoutResponse, places: places)
    return Double(devices) / (try trial.run(seed: 1).took / .seconds(3600))
  }
}

extension LearnedPlaces.Row {
  var line: String {
    let rates = fixed.map { "\($0.places): \(Int($0.rate))" }.joined(separator: ", ")
    let share = Int((learnedShare * 100).rounded())
    let tenths = Int((gain * 10).rounded())
    return "\(name): automatic \(Int(learned)) per hour, \(share) % of the best (\(best.places)), "
      + "\(tenths / 10).\(tenths % 10) times one after another; fixed \(rates)"
  }
}
