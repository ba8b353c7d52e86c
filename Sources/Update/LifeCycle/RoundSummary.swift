import OtaflashFirmware

/// The combined result of an update's rounds. The outcome is the outcome of the last round that did
/// not find its image running already; the verification grade is the grade of the last round.
/// Without evidence that the image runs, a round is "restarted", not "flashed".
struct RoundSummary: Sendable {
  /// The version before the first round.
  var from: FirmwareVersion?
  private(set) var outcome = UpdateResult.Outcome.alreadyCurrent
  private var to: FirmwareVersion?
  private var proof = UpdateResult.Proof.none
  private var validation: String?
  private var awaitsApplication = false

  mutating func add(_ ending: UpdateLifeCycle.Outcome, of images: [FirmwareImage]) {
    let last = images[images.count - 1]
    awaitsApplication = last.installer != nil
    // An installer is temporary, and has the version of the application built with it.
    let version = awaitsApplication ? nil : last.version
    switch ending {
    case .wouldFlash: (outcome, to, proof) = (.wouldFlash, version, .none)
    case .alreadyCurrent(let running): (to, proof) = (running.version, running.proof(after: nil))
    case .proven(let running):
      proof = running.proof(after: from)
      outcome = proof.isEvidence ? .flashed : .restarted
      to = running.version ?? version
      validation = running.validation
    }
  }

  func result(of counts: UpdateProgressState.Counts, took: Duration) -> UpdateResult {
    var result = UpdateResult(
      outcome: outcome, from: from, to: to, proof: proof, took: took,
      bytesSent: counts.bytesSent, uploadTook: counts.uploadTook, resumes: counts.resumes,
      validation: validation, delivery: counts.delivery,
      bytesMade: counts.delivery.map { $0.imageSize - (counts.began ?? 0) })
    result.flow = counts.flow
    result.confirmedTrial = counts.confirmedTrial && outcome == .alreadyCurrent
    result.awaitsApplication = awaitsApplication && outcome == .flashed
    result.verifyTook = counts.verifyTook
    return result
  }
}

extension RunningImage {
  /// Returns the verification grade.
  ///
  /// - Parameter before: the version that ran before the update.
  fileprivate func proof(after before: FirmwareVersion?) -> UpdateResult.Proof {
    switch agreement {
    case .same: .readBack
    // The bootloader may have reverted to an image with the same version.
    case .sameVersion: before != nil && before == version ? .bootloader : .version
    case .changed: .changed
    case .restarted: .restarted
    case .untold, .different: .bootloader
    }
  }
}
