import OtaflashDevices
import OtaflashFirmware

extension FaultReport {
  /// Describes an image with a wrong hash, or without the required signature.
  init(_ fault: PartFault, of package: String, in context: FaultContext) {
    let what = (fault.part == package ? "" : "\(package): ") + "\(fault)"
    let code = Self.code(of: fault.fault)
    self.init(
      code, what, why: fault.fault.explanation, help: context.inspectImage,
      exit: code == .otherSigner ? .permissionDenied : .malformedInput)
  }

  private static func code(of fault: ProofFault) -> FaultCode {
    switch fault {
    case .hashMissing, .hashDiffers: .image
    case .otherKey, .otherAlgorithm: .otherSigner
    case .unsigned, .signatureWrong, .encrypted, .uncovered, .notSignable: .signature
    }
  }
}
