import OtaflashFirmware
import OtaflashUpdate

extension Ending.Device {
  package init(id: String, _ result: UpdateResult, of firmware: FirmwarePackage) {
    self.init(
      id: id, outcome: result.outcome.rawValue, from: result.from?.description,
      to: result.to?.description,
      toBuild: result.to == firmware.version ? firmware.parts.last?.mcuboot?.version.build : nil,
      proof: result.proof, validation: result.validation,
      awaitsApplication: result.awaitsApplication, took: result.took, resumes: result.resumes,
      bottleneck: result.bottleneck, delivery: result.deliveryMembers)
  }
}

extension UpdateResult {
  /// The exit status of a run with this result.
  package var exit: ExitStatus { outcome == .restarted ? .notVerified : .done }

  /// Returns the command to run next; `nil` = no command follows.
  package func next(in context: FaultContext) -> String? {
    switch outcome {
    case .flashed, .restarted: context.inspectDevice
    // Two builds may have the same version: the user may know that they differ.
    case .alreadyCurrent where proof == .version: context.again(with: "--force")
    case .alreadyCurrent: nil
    case .wouldFlash: context.command(context.arguments.filter { $0 != "--dry-run" })
    }
  }
}
