#if Fleet
import OtaflashFleet
import Yams

/// The reader of `waves:` in a campaign.
enum WaveReading {
  static let keys = ["name", "devices", "success", "stop", "seen", "soak", "approve"]

  static let stopKeys = ["failures", "then", "overshoot"]

  static func waves(
    in campaign: YAMLFields
  ) -> [(wave: Wave, place: FilePlace, stop: FilePlace)] {
    var waves: [(wave: Wave, place: FilePlace, stop: FilePlace)] = []
    for (index, element) in campaign.list("waves").enumerated() {
      let fields = YAMLFields(element, of: "a wave", known: keys, campaign.mistakes)
      guard let wave = wave(fields, number: index + 1) else { continue }
      waves.append((wave, element.place, fields.placeOfValue("stop")))
    }
    return waves
  }

  private static func wave(_ fields: YAMLFields, number: Int) -> Wave? {
    if fields.isComplete, fields["devices"] == nil {
      fields.mistakes.note(
        at: fields.place, "the wave has no key 'devices': a number, a share, a list, or rest")
    }
    let members = fields["devices"].flatMap { node in
      fields.mistakes.attempt { () throws(CampaignFileFault) in try Self.members(node) }
    }
    var wave = Wave(fields.text("name") ?? "\(number)", members ?? .rest)
    wave.thresholds.successPercent =
      fields.percent("success") ?? wave.thresholds.successPercent
    wave.thresholds.seenPercent = fields.percent("seen") ?? wave.thresholds.seenPercent
    readStop(in: fields, into: &wave.thresholds)
    wave.soak = fields.duration("soak") ?? .zero
    wave.needsApproval = fields.truth("approve") ?? false
    return members == nil ? nil : wave
  }

  /// Reads `stop`: a limit, or a mapping with a limit, an action and an overshoot.
  private static func readStop(
    in fields: YAMLFields, into thresholds: inout WaveThresholds
  ) {
    guard case .mapping? = fields["stop"],
      let stop = fields.fields("stop", of: "stop", known: stopKeys)
    else {
      thresholds.stop = limit("stop", of: fields) ?? thresholds.stop
      return
    }
    thresholds.stop = limit("failures", of: stop) ?? thresholds.stop
    thresholds.stopAction = stop.choice("then", WaveThresholds.StopAction.self)
    thresholds.overshoot = stop.read("overshoot", "a number of devices, 0 or more") {
      Int(count: $0)
    }
  }

  private static func limit(
    _ key: String, of fields: YAMLFields
  ) -> WaveThresholds.Limit? {
    fields.read(key, "a number of devices or a share, such as 3 or 10%, above 0") {
      switch (Int(percent: $0), Int(count: $0)) {
      case (let percent?, _) where percent > 0: .percent(percent)
      case (_, let count?) where count > 0: .count(count)
      default: nil
      }
    }
  }

  private static func members(_ node: Node) throws(CampaignFileFault) -> Wave.Members {
    if case .sequence = node { return .named(try node.texts(of: "devices")) }
    let text = try node.text(of: "devices")
    if text == "rest" { return .rest }
    if let percent = Int(percent: text), percent > 0 { return .percent(percent) }
    if let count = Int(count: text), count > 0 { return .count(count) }
    throw CampaignFileFault(
      at: node.place,
      "'\(text)' is not a number (3), a share (10%), a list ([a, b]) or 'rest'")
  }
}

extension Int {
  /// Parses a number that consists only of digits.
  init?(count text: String) {
    guard !text.isEmpty, text.allSatisfy({ $0.isASCII && $0.isNumber }), let value = Int(text)
    else { return nil }
    self = value
  }
}
#endif
