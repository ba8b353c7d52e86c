/// Applies the faults of a plan to the progress that a bootloader reports. An instance lives as
/// long as the board, so that a fault that occurs once is not repeated.
struct SecureMisbehavior: Sendable {
  private let plan: FaultPlan
  private var hasCorruptedChecksum = false
  private var hasJumpedBack = false
  private var hasClaimedForeignState = false
  private var repeated: SecureBootloader.Progress?

  init(plan: FaultPlan) { self.plan = plan }

  mutating func altered(
    _ progress: SecureBootloader.Progress, of imageSize: Int
  ) -> SecureBootloader.Progress {
    var altered = progress
    if plan.contains(.foreignState), !hasClaimedForeignState, progress.offset == 0, imageSize > 0 {
      hasClaimedForeignState = true
      return SecureBootloader.Progress(offset: imageSize / 2, crc32: 0x0807_0605)
    }
    guard progress.offset > 0 else { return altered }
    if plan.contains(.wrongCRCAlways) || (plan.contains(.wrongCRCOnce) && !hasCorruptedChecksum) {
      hasCorruptedChecksum = true
      altered.crc32 ^= 1
    }
    if plan.contains(.repeatOffset) {
      altered = repeated ?? altered
      repeated = altered
    }
    if plan.contains(.jumpBack), !hasJumpedBack, altered.offset >= imageSize / 2 {
      hasJumpedBack = true
      altered = SecureBootloader.Progress()
    }
    if plan.contains(.beyondEnd) { altered.offset = imageSize + 1000 }
    return altered
  }
}
