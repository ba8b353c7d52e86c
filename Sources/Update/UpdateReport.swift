import OtaflashFirmware

/// What the rounds of an update come to: something was flashed when any round flashed, and the whole
/// is proven no better than its last round.
struct UpdateReport: Sendable {
  /// What ran before the first round.
  var from: FirmwareVersion?
  private(set) var outcome = UpdateResult.Outcome.alreadyCurrent
  private var to: FirmwareVersion?
  private var proof = UpdateResult.Proof.none

  mutating func add(_ ending: UpdateLifeCycle.Ending, of images: [FirmwareImage]) {
    let version = images[images.count - 1].version
    switch ending {
    case .wouldFlash: (outcome, to, proof) = (.wouldFlash, version, .none)
    case .alreadyCurrent(let running): (to, proof) = (running.version, .readBack)
    case .proven(let running):
      outcome = .flashed
      to = running.version ?? version
      proof = running.agreement == .same ? .readBack : .bootLoader
    }
  }

  func result(of counts: UpdateTally.Counts, took: Duration) -> UpdateResult {
    UpdateResult(
      outcome: outcome, from: from, to: to, proof: proof, took: took,
      octetsSent: counts.octetsSent, uploadTook: counts.uploadTook, resumes: counts.resumes)
  }
}
