#if Fleet
import OtaflashFleet
import Yams

/// `retries:` and `flash:` of a campaign.
enum OptionReading {
  static let retryKeys = [
    "link", "same", "first-delay", "longest-delay", "jitter", "infrastructure",
  ]
  static let flashKeys = [
    "mode", "delta", "mtu", "allow-downgrade", "allow-unknown", "allow-other-hardware", "force",
    "attempt-limit",
  ]

  static func retries(in node: Node?) throws(CampaignFileFault) -> RetryPolicy {
    var retries = RetryPolicy()
    guard let node else { return retries }
    let fields = try YAMLFields(node, of: "retries", known: retryKeys)
    retries.linkAttempts = try fields.whole("link") ?? retries.linkAttempts
    retries.sameFailures = try fields.whole("same") ?? retries.sameFailures
    retries.firstDelay = try fields.duration("first-delay") ?? retries.firstDelay
    retries.longestDelay = try fields.duration("longest-delay") ?? retries.longestDelay
    retries.jitter = try fields.percent("jitter").map { Double($0) / 100 } ?? retries.jitter
    retries.infrastructureFailures =
      try fields.whole("infrastructure") ?? retries.infrastructureFailures
    guard retries.firstDelay > .zero, retries.longestDelay >= retries.firstDelay else {
      throw CampaignFileFault(
        at: fields.place(of: "longest-delay"),
        "the delays begin above zero, and the longest is no shorter than the first")
    }
    return retries
  }

  static func flash(in node: Node?) throws(CampaignFileFault) -> FlashChoices {
    var flash = FlashChoices()
    guard let node else { return flash }
    let fields = try YAMLFields(node, of: "flash", known: flashKeys)
    flash.writing = try fields.choice("mode", FlashChoices.Writing.self) ?? flash.writing
    flash.delta = try fields.choice("delta", FlashChoices.Delta.self) ?? flash.delta
    flash.mtu = try fields.whole("mtu") ?? flash.mtu
    flash.allowDowngrade = try fields.truth("allow-downgrade") ?? false
    flash.allowUnknown = try fields.truth("allow-unknown") ?? false
    flash.allowOtherHardware = try fields.truth("allow-other-hardware") ?? false
    flash.force = try fields.truth("force") ?? false
    flash.attemptLimit = try fields.duration("attempt-limit") ?? flash.attemptLimit
    guard flash.attemptLimit > .zero else {
      throw CampaignFileFault(
        at: fields.place(of: "attempt-limit"), "an attempt takes more than no time")
    }
    return flash
  }
}
#endif
