/// What the faults of a plan do to the progress that a bootloader tells. Kept for the life of the
/// board, so that what happens once happens once.
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
    var told = progress
    if plan.contains(.foreignState), !hasClaimedForeignState, progress.offset == 0, imageSize > 0 {
      hasClaimedForeignState = true
      return SecureBootloader.Progress(offset: imageSize / 2, crc32: 0x0807_0605)
    }
    guard progress.offset > 0 else { return told }
    if plan.contains(.wrongCRCAlways) || (plan.contains(.wrongCRCOnce) && !hasCorruptedChecksum) {
      hasCorruptedChecksum = true
      told.crc32 ^= 1
    }
    if plan.contains(.repeatOffset) {
      told = repeated ?? told
      repeated = told
    }
    if plan.contains(.jumpBack), !hasJumpedBack, told.offset >= imageSize / 2 {
      hasJumpedBack = true
      told = SecureBootloader.Progress()
    }
    if plan.contains(.beyondEnd) { told.offset = imageSize + 1000 }
    return told
  }
}
