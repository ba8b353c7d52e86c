import OtaflashFirmware

extension SecureDFURefusal {
  /// The refusal for people.
  ///
  /// - Parameter initPacket: what was refused, where it is an init packet: its numbers are told.
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

  fileprivate static let unknownRemedy = "Look the number up in the bootloader's source."
}

extension SecureDFUResult {
  fileprivate var words: RefusalWords {
    switch self {
    case .invalidCode:
      RefusalWords(
        "it took the request for none", SecureDFURefusal.unknownRemedy, .protocolBroken)
    case .opcodeNotSupported, .unsupportedType:
      RefusalWords(
        "its bootloader does not know the operation",
        "Its bootloader must be one for Secure DFU, SDK 12 or later.", .protocolBroken)
    case .invalidParameter:
      RefusalWords(
        "a size is not what it expects",
        "Init packet and image do not belong together. Make the package again.", .unsuitable)
    case .insufficientResources:
      RefusalWords(
        "it has no room for an object of this size", "Restart the device, and try again.",
        .unsuitable, remedy: .restartDevice)
    case .invalidObject:
      RefusalWords(
        "the signature is wrong, or the init packet cannot be parsed",
        "Sign the package with the private key whose public key is built into the bootloader.",
        .rejected)
    case .operationNotPermitted:
      RefusalWords(
        "the operation is not permitted in its present state",
        "Drop what it holds, and start over.", .protocolBroken, remedy: .startOver)
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
      RefusalWords("it gave no reason", SecureDFURefusal.unknownRemedy, .rejected)
    case .wrongCommandFormat, .unknownCommand, .initCommandInvalid:
      RefusalWords(
        "it cannot read the init packet, or misses a field in it",
        "Make the package with a tool that matches the bootloader's SDK version.", .unsuitable)
    case .firmwareVersionTooLow:
      RefusalWords(
        "the firmware version\(Self.told(initPacket?.firmwareVersion)) is lower than its own",
        "Make the package with a higher version (a bootloader's must be higher than the one it "
          + "replaces). A bootloader cannot be overruled.", .unsuitable)
    case .hardwareVersionDiffers:
      RefusalWords(
        "it has another hardware version than the package's"
          + Self.told(initPacket?.hardwareVersion),
        "Take the package for this board. A bootloader cannot be overruled.", .unsuitable)
    case .softDeviceNotListed:
      RefusalWords(
        "its SoftDevice is not among those of the package\(Self.listed(initPacket))",
        "Send the SoftDevice that the application needs first, or list the one it has (sd_req).",
        .unsuitable)
    case .signatureMissing:
      RefusalWords(
        "the package is not signed",
        "Sign it with the private key whose public key is built into the bootloader.", .rejected)
    case .wrongSignatureType:
      RefusalWords(
        "it does not know the type of the signature",
        "Sign with ECDSA P-256, which Secure DFU bootloaders check.", .rejected)
    case .wrongHashType:
      RefusalWords(
        "the init packet has another hash than SHA-256", "Make the package again.", .unsuitable)
    case .hashFailed:
      RefusalWords(
        "it could not compute the hash of the image", "Restart the device, and try again.",
        .rejected)
    case .imageHashMismatch:
      RefusalWords(
        "the image does not have the hash that the init packet tells",
        "Init packet and image do not belong together. Make the package again.", .rejected)
    case .insufficientSpace:
      RefusalWords(
        "the image does not fit into its flash", "Build a smaller image, or for a larger part.",
        .unsuitable)
    case .alreadyPresent:
      RefusalWords(
        "it has this very image already", "Nothing is to be done.", .unsuitable)
    }
  }

  private static func told(_ number: UInt32?) -> String { number.map { " \($0)" } ?? "" }

  private static func listed(_ initPacket: SecureInitPacket?) -> String {
    guard let ids = initPacket?.requiredSoftdevices, !ids.isEmpty else { return "" }
    return " (" + ids.map { "0x" + String($0, radix: 16, uppercase: true) }.joined(separator: ", ")
      + ")"
  }
}

extension ProtocolRefusal {
  /// SDK 12 says no more than that where later ones tell that the hash differs (0B/0C).
  static let imageNotTaken = ProtocolRefusal(
    code: "Secure DFU 5", meaning: "it does not take the whole image",
    advice:
      "It does not say why: most likely the image does not have the hash that the init packet "
      + "tells, and the two do not belong together. Make the package again.", kind: .rejected)

  static let initPacketDamaged = ProtocolRefusal(
    code: "CRC32", meaning: "the init packet arrives damaged each time",
    advice: "The device's receiver loses or changes packets. Restart it, and try again.",
    kind: .protocolBroken, remedy: .restartDevice)

  static func initPacketTooLong(_ bytes: Int, limit: Int) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "\(bytes) of \(limit)", meaning: "the init packet is longer than it takes",
      advice: "Make the package for this bootloader's SDK version.", kind: .unsuitable)
  }
}
