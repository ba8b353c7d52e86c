#if Fleet
import OtaflashFleet
import Yams

/// `waves:` of a campaign.
enum WaveReading {
  static let keys = ["name", "devices", "success", "stop", "seen", "soak", "approve"]

  static let stopKeys = ["failures", "then", "overshoot"]

  static func waves(
    in node: Node
  ) throws(CampaignFileFault) -> [(wave: Wave, place: FilePlace, stop: FilePlace)] {
    var waves: [(wave: Wave, place: FilePlace, stop: FilePlace)] = []
    for (index, element) in try node.list(of: "waves").enumerated() {
      let (wave, stop) = try wave(element, number: index + 1)
      waves.append((wave, element.place, stop))
    }
    return waves
  }

  private static func wave(
    _ node: Node, number: Int
  ) throws(CampaignFileFault) -> (Wave, stop: FilePlace) {
    let fields = try YAMLFields(node, of: "a wave", known: keys)
    guard let members = fields["devices"] else {
      throw CampaignFileFault(
        at: node.place, "the wave has no 'devices': a number, a share, a list, or rest")
    }
    var wave = Wave(try fields.text("name") ?? "\(number)", try Self.members(members))
    wave.thresholds.successPercent =
      try fields.percent("success") ?? wave.thresholds.successPercent
    wave.thresholds.seenPercent = try fields.percent("seen") ?? wave.thresholds.seenPercent
    try readStop(in: fields, into: &wave.thresholds)
    wave.soak = try fields.duration("soak") ?? .zero
    wave.needsApproval = try fields.truth("approve") ?? false
    return (wave, fields.place(of: "stop"))
  }

  /// `stop` is a limit, or a mapping of a limit and of what follows.
  private static func readStop(
    in fields: YAMLFields, into thresholds: inout WaveThresholds
  ) throws(CampaignFileFault) {
    guard case .mapping? = fields["stop"], let node = fields["stop"] else {
      thresholds.stop = try limit("stop", of: fields) ?? thresholds.stop
      return
    }
    let stop = try YAMLFields(node, of: "stop", known: stopKeys)
    thresholds.stop = try limit("failures", of: stop) ?? thresholds.stop
    thresholds.stopAction = try stop.choice("then", WaveThresholds.StopAction.self)
    thresholds.overshoot = try stop.read("overshoot", "a number of devices, 0 or more") {
      Int(count: $0)
    }
  }

  private static func limit(
    _ key: String, of fields: YAMLFields
  ) throws(CampaignFileFault) -> WaveThresholds.Limit? {
    try fields.read(key, "a number of devices or a share, such as 3 or 10%") {
      Int(percent: $0).map { .percent($0) } ?? Int(count: $0).map { .count($0) }
    }
  }

  private static func members(_ node: Node) throws(CampaignFileFault) -> Wave.Members {
    if case .sequence = node { return .named(try node.texts(of: "devices")) }
    let text = try node.text(of: "devices")
    if text == "rest" { return .rest }
    if let percent = Int(percent: text) { return .percent(percent) }
    if let count = Int(count: text) { return .count(count) }
    throw CampaignFileFault(
      at: node.place,
      "'\(text)' is no number (3), no share (10%), no list ([a, b]), and not 'rest'")
  }
}

extension Int {
  /// Digits alone.
  init?(count text: String) {
    guard !text.isEmpty, text.allSatisfy({ $0.isASCII && $0.isNumber }), let value = Int(text)
    else { return nil }
    self = value
  }
}
#endif
