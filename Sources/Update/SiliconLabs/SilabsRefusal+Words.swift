import OtaflashATT
import OtaflashGATT

/// The program that refuses a request; the codes of the programs differ.
enum SilabsParty: Sendable {
  case application, loader, storage
}

extension ProtocolRefusal {
  /// Returns the refusal as a message (EFRConnect-android, `ErrorCodes.kt`; gecko_sdk,
  /// `app_ota_dfu`).
  static func silabs(_ code: ATTErrorCode, of party: SilabsParty) -> ProtocolRefusal {
    let words =
      switch party {
      case .application: wordsOfApplication(code)
      case .loader: wordsOfLoader(code)
      case .storage: wordsOfStorage(code)
      }
    return ProtocolRefusal(
      code: "silabs 0x\(code.hexadecimal)", meaning: words.meaning, advice: words.advice,
      kind: words.kind, remedy: words.remedy)
  }

  private typealias Words = (meaning: String, advice: String, kind: Kind, remedy: Remedy?)

  private static let emptied =
    " The device stays in its loader without an application until a transfer succeeds."

  private static func wordsOfApplication(_ code: ATTErrorCode) -> Words {
    switch code.rawValue {
    case 0x80:
      (
        "it starts its loader only for a bonded host", "Pair with the device first.", .forbidden,
        .pair
      )
    default: unknown
    }
  }

  private static func wordsOfLoader(_ code: ATTErrorCode) -> Words {
    switch code.rawValue {
    case 0x80:
      (
        "it rejected the checksum or the signature of the file",
        "Sign and encrypt the file with the keys of this device." + emptied, .rejected,
        .chooseAnotherImage
      )
    case 0x81:
      (
        "it does not expect data, because no transfer was started",
        "Restart the device, and try again.", .protocolBroken, .tryAgain
      )
    case 0x82:
      (
        "it has no free buffer for data", "Try again with acknowledged writes, which are slower.",
        .protocolBroken, .tryAgain
      )
    case 0x83:
      (
        "the image is too large, or overlaps the loader",
        "Build the application for this loader: its flash area ends where the loader starts."
          + emptied, .unsuitable, .chooseAnotherImage
      )
    case 0x84:
      (
        "it cannot interpret the file",
        "Create the file for this bootloader; a partial update requires an application built with "
          + "the SDK of the loader." + emptied, .rejected, .chooseAnotherImage
      )
    case 0x85:
      (
        "it could not erase or write its flash",
        "Replace the device if this happens again."
          + emptied, .flashFault, .tryAgain
      )
    case 0x86:
      (
        "it has a bootloader of another type",
        "Install a Gecko bootloader with the storage or the AppLoader that this file requires.",
        .unsuitable, nil
      )
    case 0x87:
      (
        "the application would overlap the loader, or the loader is not ready",
        "Try again; if it fails again, build a smaller application.", .unsuitable, .tryAgain
      )
    default: unknown
    }
  }

  private static func wordsOfStorage(_ code: ATTErrorCode) -> Words {
    switch code.rawValue {
    case 0x80:
      (
        "it does not accept data over this connection", "Pair with the device first.", .forbidden,
        .pair
      )
    case 0x81:
      (
        "its storage is not ready for data",
        "The storage is missing, or too small to be erased in time; restart the device, and try "
          + "again.", .unwilling, .tryAgain
      )
    case 0x82:
      (
        "the file does not fit into its storage",
        "Build a smaller image, or compress it in the GBL file.", .doesNotFit, .chooseAnotherImage
      )
    case 0x83:
      (
        "it could not write its storage", "Replace the device if this happens again.",
        .flashFault, .tryAgain
      )
    default: unknown
    }
  }

  private static var unknown: Words {
    (
      "it reported an error that the protocol does not define",
      "Restart the device, and try again.", .protocolBroken, .tryAgain
    )
  }

  /// The refusal of a device that never restarted after it had stored a complete file.
  static let silabsNotInstalled = ProtocolRefusal(
    code: "silabs", meaning: "it stored the file, but did not restart to install it",
    advice: "Its application rejected the file, or installs it only after an action of the user. "
      + "Such devices report no reason.", kind: .rejected, remedy: .inspectDevice)
}

extension ATTErrorCode {
  /// Whether Silicon Labs' protocol, and not the Attribute Protocol, defines the code.
  var isOfApplication: Bool { (0x80...0x9F).contains(rawValue) }

  fileprivate var hexadecimal: String {
    let digits = String(rawValue, radix: 16)
    return digits.count == 1 ? "0" + digits : digits
  }
}
