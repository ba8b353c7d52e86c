import OtaflashFirmware

extension FaultReport {
  /// An image that is not what it says, or not by whom it must be.
  init(_ fault: PartFault, of package: String, in context: FaultContext) {
    let what = (fault.part == package ? "" : "\(package): ") + "\(fault)"
    let code = Self.code(of: fault.fault)
    self.init(
      code, what, why: Self.why(fault.fault), help: context.inspectImage,
      exit: code == .otherSigner ? .permissionDenied : .malformedInput)
  }

  private static func code(of fault: ProofFault) -> FaultCode {
    switch fault {
    case .hashMissing, .hashDiffers: .image
    case .otherKey, .otherAlgorithm: .otherSigner
    case .unsigned, .signatureWrong, .encrypted, .uncovered, .notSignable: .signature
    }
  }

  private static func why(_ fault: ProofFault) -> String {
    switch fault {
    case .hashMissing, .hashDiffers:
      "A boot loader would refuse it, after all of it was sent; nothing was sent."
    case .otherKey, .otherAlgorithm:
      "It may be genuine, but not by the owner of this key; nothing was sent."
    case .unsigned, .notSignable:
      "Only images that the owner of the key has signed were asked for; nothing was sent."
    case .signatureWrong:
      "It was changed after it was signed, or signed by somebody else; nothing was sent."
    case .encrypted: "Only the device can decrypt it; nothing was sent."
    case .uncovered: "Whoever added them did not need the key; nothing was sent."
    }
  }
}
