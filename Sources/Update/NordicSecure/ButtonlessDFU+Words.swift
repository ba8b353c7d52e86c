extension ButtonlessResponse.Status {
  /// The reason why the application does not restart into its bootloader.
  var inWords: ProtocolRefusal {
    ProtocolRefusal(code: "buttonless \(rawValue)", words)
  }

  private var words: RefusalWords {
    switch self {
    case .success: RefusalWords("nothing", "No action is needed.", .protocolBroken)
    case .opcodeNotSupported, .invalidName:
      RefusalWords(
        "its application does not support the request",
        "Start its bootloader with a button or a reset, then try again.", .protocolBroken)
    case .operationFailed:
      RefusalWords(
        "its application could not prepare the restart", "Restart the device, and try again.",
        .rejected)
    case .busy:
      RefusalWords(
        "its application is busy", "Try again in a moment.", .rejected, remedy: .tryAgain)
    case .notBonded:
      RefusalWords(
        "it enters its bootloader only for a bonded host", "Pair with the device first.",
        .forbidden, remedy: .pair)
    }
  }
}
