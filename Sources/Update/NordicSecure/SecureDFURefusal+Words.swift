extension SecureDFURefusal {
  package var words: RefusalWords {
    switch self {
    case .result(let result): result.words
    case .extended(let error): error.words
    case .undefined(let code):
      RefusalWords("it refused with the undefined result \(code)", Self.unknownRemedy)
    case .undefinedExtended(let code):
      RefusalWords("it refused with the undefined extended error \(code)", Self.unknownRemedy)
    }
  }

  fileprivate static let unknownRemedy =
    "Run it again with -vvv and look the number up in the boot loader's source."
}

extension SecureDFUResult {
  fileprivate var words: RefusalWords {
    switch self {
    case .invalidCode: RefusalWords("it took the request for none", SecureDFURefusal.unknownRemedy)
    case .opcodeNotSupported:
      RefusalWords(
        "its boot loader does not know the operation",
        "Check that the boot loader is one for Secure DFU, SDK 12 or later.")
    case .invalidParameter:
      RefusalWords(
        "a size or a parameter is not what it expects",
        "Check that the init packet belongs to this image: make the package again.")
    case .insufficientResources:
      RefusalWords(
        "it has no room for an object of this size",
        "Run it again with --restart; if it stays, the init packet is too long for this boot loader."
      )
    case .invalidObject:
      RefusalWords(
        "the signature is wrong or the init packet cannot be parsed",
        "Sign the package with the private key whose public key is built into the boot loader.")
    case .unsupportedType:
      RefusalWords(
        "it does not take this type of object",
        "Check that the boot loader is one for Secure DFU, SDK 12 or later.")
    case .operationNotPermitted:
      RefusalWords(
        "the operation is not permitted in its present state", "Run it again with --restart.")
    case .operationFailed:
      RefusalWords(
        "the operation failed inside the device",
        "Run it again; if it fails again, restart the device first.")
    }
  }
}

extension SecureDFUExtendedError {
  fileprivate var words: RefusalWords {
    switch self {
    case .none, .invalidErrorCode:
      RefusalWords("it gave no reason", SecureDFURefusal.unknownRemedy)
    case .wrongCommandFormat, .unknownCommand:
      RefusalWords(
        "it cannot read the init packet",
        "Make the package with a tool that matches the boot loader's SDK version.")
    case .initCommandInvalid:
      RefusalWords(
        "the init packet lacks its type, a size or the hardware version",
        "Make the package again with all of them.")
    case .firmwareVersionTooLow:
      RefusalWords(
        "the firmware version in the init packet is lower than its own, or for a boot loader not higher",
        "Make the package with a higher firmware version; the boot loader cannot be overruled.")
    case .hardwareVersionDiffers:
      RefusalWords(
        "the package is for another hardware version",
        "Take the package for this board: the boot loader cannot be overruled.")
    case .softDeviceNotListed:
      RefusalWords(
        "the package does not list the SoftDevice that it has (sd_req)",
        "List its SoftDevice when making the package, or send a package with the SoftDevice first.")
    case .signatureMissing:
      RefusalWords(
        "the package is not signed",
        "Sign it with the private key whose public key is built into the boot loader.")
    case .wrongHashType:
      RefusalWords(
        "it takes SHA-256 only, and the init packet has another hash", "Make the package again.")
    case .hashFailed:
      RefusalWords(
        "it could not compute the hash of the image", "Run it again; restart the device first.")
    case .wrongSignatureType:
      RefusalWords(
        "it does not know the type of the signature",
        "Sign with ECDSA P-256, which every Secure DFU boot loader checks.")
    case .imageHashMismatch:
      RefusalWords(
        "the image does not have the hash that the init packet tells",
        "Make the package again: image and init packet do not belong together.")
    case .insufficientSpace:
      RefusalWords(
        "the image does not fit into its flash", "Build a smaller image, or for a larger part.")
    case .alreadyPresent:
      RefusalWords(
        "it runs this very image already",
        "Nothing is to be done; a new version is needed to update.")
    }
  }
}
