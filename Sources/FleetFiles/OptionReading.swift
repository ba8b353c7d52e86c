#if Fleet
import OtaflashFleet
import OtaflashUpdate

/// The reader of `retries:` and `flash:` in a campaign.
enum OptionReading {
  static let retryKeys = [
    "link", "same", "first-delay", "longest-delay", "jitter", "infrastructure",
  ]
  static let flashKeys = [
    "mode", "delta", "mtu", "allow-downgrade", "allow-unknown", "allow-other-hardware", "force",
    "attempt-limit",
  ]

  static func retries(in campaign: YAMLFields) -> RetryPolicy {
    var retries = RetryPolicy()
    guard let fields = campaign.fields("retries", of: "retries", known: retryKeys) else {
      return retries
    }
    retries.linkAttempts = fields.whole("link", in: RetryPolicy.attempts) ?? retries.linkAttempts
    retries.sameFailures = fields.whole("same", in: RetryPolicy.repeats) ?? retries.sameFailures
    retries.firstDelay = fields.duration("first-delay") ?? retries.firstDelay
    retries.longestDelay = fields.duration("longest-delay") ?? retries.longestDelay
    retries.jitter = fields.percent("jitter").map { Double($0) / 100 } ?? retries.jitter
    retries.infrastructureFailures =
      fields.whole("infrastructure", in: RetryPolicy.attempts) ?? retries.infrastructureFailures
    if retries.firstDelay <= .zero || retries.longestDelay < retries.firstDelay {
      fields.mistakes.note(
        at: fields.place(of: "longest-delay"),
        "the delays must be above 0, and 'longest-delay' at least 'first-delay'")
    }
    return retries
  }

  static func flash(in campaign: YAMLFields) -> FlashChoices {
    var flash = FlashChoices()
    guard let fields = campaign.fields("flash", of: "flash", known: flashKeys) else {
      return flash
    }
    flash.writing = fields.choice("mode", WriteMode.self) ?? flash.writing
    flash.delta = fields.choice("delta", DeltaPolicy.self) ?? flash.delta
    flash.mtu = fields.whole("mtu", in: FlashChoices.mtus) ?? flash.mtu
    flash.allowDowngrade = fields.truth("allow-downgrade") ?? false
    flash.allowUnknown = fields.truth("allow-unknown") ?? false
    flash.allowOtherHardware = fields.truth("allow-other-hardware") ?? false
    flash.force = fields.truth("force") ?? false
    flash.attemptLimit = fields.duration("attempt-limit") ?? flash.attemptLimit
    if flash.attemptLimit <= .zero {
      fields.mistakes.note(
        at: fields.place(of: "attempt-limit"), "the time limit must be above 0")
    }
    return flash
  }
}
#endif
