import OtaflashFirmware

extension SecureDFURefusal {
  /// Returns the refusal as a message.
  ///
  /// - Parameter initPacket: the refused init packet, whose numbers the message contains; `nil` if
  ///   another object was refused.
  func inWords(of initPacket: SecureInitPacket? = nil) -> ProtocolRefusal {
    ProtocolRefusal(code: "Secure DFU \(code)", words(of: initPacket))
  }

  private func words(of initPacket: SecureInitPacket?) -> RefusalWords {
    switch self {
    case .result(let result): result.words
    case .extended(let error): error.words(of: initPacket)
    case .undefined(let code):
      RefusalWords(
        "it refused with the undefined result \(code)", Self.unknownRemedy, .protocolBroken)
    case .undefinedExtended(let code):
      RefusalWords(
        "it refused with the undefined extended error \(code)", Self.unknownRemedy,
        .protocolBroken)
    }
  }

  fileprivate static let unknownRemedy = "Find the number in the bootloader's source."
}

extension SecureDFUResult {
  fileprivate var words: RefusalWords {
    switch self {
    case .invalidCode:
      RefusalWords(
        "it did not recognize the request", SecureDFURefusal.unknownRemedy, .protocolBroken)
    case .opcodeNotSupported, .unsupportedType:
      RefusalWords(
        "its bootloader does not support the operation",
        "Its bootloader must support Secure DFU, SDK 12 or later.", .protocolBroken)
    case .invalidParameter:
      RefusalWords(
        "a size differs from the expected size",
        "Init packet and image do not belong together. Generate the package again.", .unsuitable)
    case .insufficientResources:
      RefusalWords(
        "it has no memory for an object of this size", "Restart the device, and try again.",
        .unsuitable, remedy: .restartDevice)
    case .invalidObject:
      RefusalWords(
        "the signature is wrong, or the init packet cannot be parsed",
        "Sign the package with the private key whose public key is built into the bootloader.",
        .rejected)
    case .operationNotPermitted:
      RefusalWords(
        "the operation is not permitted in its present state",
        "Restart the transfer.", .protocolBroken, remedy: .startOver)
    case .operationFailed:
      RefusalWords(
        "the operation failed inside the device", "Restart the device, and try again.", .rejected)
    }
  }
}

extension SecureDFUExtendedError {
  fileprivate func words(of initPacket: SecureInitPacket?) -> RefusalWords {
    switch self {
    case .none, .invalidErrorCode:
      RefusalWords("it reported no reason", SecureDFURefusal.unknownRemedy, .rejected)
    case .wrongCommandFormat, .unknownCommand, .initCommandInvalid:
      RefusalWords(
        "it cannot read the init packet, or a field is missing",
        "Generate the package with a tool that matches the bootloader's SDK version.", .unsuitable)
    case .firmwareVersionTooLow:
      RefusalWords(
        "the firmware version\(Self.spaced(initPacket?.firmwareVersion)) is lower than its own",
        "Generate the package with a higher version (for a bootloader, higher than the one it "
          + "replaces). The bootloader permits no exception.", .unsuitable)
    case .hardwareVersionDiffers:
      RefusalWords(
        "its hardware version is not the package's hardware version"
          + Self.spaced(initPacket?.hardwareVersion),
        "Use the package for this board. The bootloader permits no exception.", .unsuitable)
    case .softDeviceNotListed:
      RefusalWords(
        "its SoftDevice is not listed in the package\(Self.listed(initPacket))",
        "First send the SoftDevice that the application needs, or list the installed SoftDevice in "
          + "the package (sd_req).",
        .unsuitable)
    case .signatureMissing:
      RefusalWords(
        "the package is not signed",
        "Sign it with the private key whose public key is built into the bootloader.", .rejected)
    case .wrongSignatureType:
      RefusalWords(
        "it does not support the type of the signature",
        "Sign with ECDSA P-256, which Secure DFU bootloaders check.", .rejected)
    case .wrongHashType:
      RefusalWords(
        "the init packet has a hash other than SHA-256", "Generate the package again.", .unsuitable)
    case .hashFailed:
      RefusalWords(
        "it could not compute the hash of the image", "Restart the device, and try again.",
        .rejected)
    case .imageHashMismatch:
      RefusalWords(
        "the hash of the image differs from the hash in the init packet",
        "Init packet and image do not belong together. Generate the package again.", .rejected)
    case .insufficientSpace:
      RefusalWords(
        "the image does not fit into its flash",
        "Build a smaller image, or use a chip with more flash.",
        .unsuitable)
    case .alreadyPresent:
      RefusalWords(
        "it already has this image", "No action is needed.", .unsuitable)
    }
  }

  private static func spaced(_ number: UInt32?) -> String { number.map { " \($0)" } ?? "" }

  private static func listed(_ initPacket: SecureInitPacket?) -> String {
    guard let ids = initPacket?.requiredSoftdevices, !ids.isEmpty else { return "" }
    return " (" + ids.map { "0x" + String($0, radix: 16, uppercase: true) }.joined(separator: ", ")
      + ")"
  }
}

extension ProtocolRefusal {
  /// The refusal of an image as SDK 12 reports it; later versions report that the hash differs
  /// (0B/0C).
  static let imageNotTaken = ProtocolRefusal(
    code: "Secure DFU 5", meaning: "it does not accept the complete image",
    advice:
      "The bootloader reports no reason. Most likely, the hash of the image differs from the hash "
      + "in the init packet. Generate the package again.", kind: .rejected)

  static let initPacketDamaged = ProtocolRefusal(
    code: "CRC32", meaning: "the init packet arrives damaged each time",
    advice: "The device's receiver loses or changes packets. Restart it, and try again.",
    kind: .protocolBroken, remedy: .restartDevice)

  static func initPacketTooLong(_ bytes: Int, limit: Int) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "\(bytes) of \(limit)", meaning: "the init packet is longer than it accepts",
      advice: "Generate the package for this bootloader's SDK version.", kind: .unsuitable)
  }
}
