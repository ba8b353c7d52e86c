extension LegacyDFUStatus {
  /// Why the device did not do what it was asked for.
  var inWords: ProtocolRefusal { ProtocolRefusal(code: "legacy DFU \(rawValue)", words) }

  private var words: RefusalWords {
    switch self {
    case .success: RefusalWords("nothing", "Nothing is to be done.", .protocolBroken)
    case .invalidState:
      RefusalWords(
        "it is in the middle of another transfer", "Restart the device, and try again.",
        .protocolBroken)
    case .notSupported:
      RefusalWords(
        "it does not take this kind of image",
        "A SoftDevice or a boot loader must come in a package made for its boot loader.",
        .unsuitable)
    case .sizeOverLimit:
      RefusalWords(
        "the image does not fit into its flash", "Build a smaller image, or for a larger part.",
        .unsuitable)
    case .checksumMismatch:
      RefusalWords(
        "the init packet is not for it, or not of what it holds",
        "Before the upload: it is for another device type, revision or SoftDevice. After it: the "
          + "checksum differs; try again, and if it fails again make the package again.", .rejected)
    case .operationFailed:
      RefusalWords(
        "the operation failed",
        "Often the init packet is for another device type, revision or SoftDevice.", .rejected)
    }
  }
}

extension ProtocolRefusal {
  /// ATT error 0x08: an application that takes updates only while its user permits it.
  static let updatesNotPermitted = ProtocolRefusal(
    code: "legacy DFU", meaning: "it does not permit updates now",
    remedy: "Permit them in the device's settings.", kind: .forbidden)
}
