import OtaflashATT
import OtaflashBlueZ
import OtaflashGATT

extension FaultContext {
  var pair: String { aboutDevice("pair") }
  /// Keys are kept by address; where the device was named otherwise, the list tells it.
  var unpair: String {
    guard let device = subject.device, BluetoothAddress(device) != nil else {
      return command(["devices"])
    }
    return aboutDevice("unpair")
  }

  /// Another command on this run's device, over the same adapter.
  private func aboutDevice(_ words: String) -> String {
    guard let device = subject.device else { return command([words, "--help"]) }
    return command(adapterWords + [words, "-d", device])
  }

  /// `--adapter hci1`, where this run was given it.
  private var adapterWords: [String] {
    for (word, next) in zip(arguments, arguments.dropFirst()) where word == "--adapter" {
      return [word, next]
    }
    return arguments.filter { $0.hasPrefix("--adapter=") }
  }
}

extension FaultReport {
  /// Why a link did not become as secure as the device, or the user, wanted it.
  init(
    _ fault: SecurityFault, wantedBy code: ATTErrorCode? = nil, in context: FaultContext
  ) {
    let demand = code.map {
      "The device says: \($0.meaning) (ATT error \(Text.hex($0.rawValue))). "
    }
    switch fault {
    case .unsupported:
      self.init(
        .notPaired, "such a link cannot be secured",
        why: (demand ?? "") + "Only a device that is reached over the air can be paired.",
        help: context.inspectDevice, exit: .permissionDenied)
    case .notPaired:
      self.init(
        .notPaired, "the device must be paired first",
        why: (demand ?? "") + "This command makes no pairing by itself.", help: context.pair,
        exit: .permissionDenied)
    case .permissionDenied(let cause, let remedy):
      self.init(
        .permission, "pairing is not permitted", why: (demand ?? "") + cause + " " + remedy,
        help: context.doctor, exit: .permissionDenied)
    case .bondForgotten:
      self.init(
        .bondForgotten, "the device has forgotten this computer",
        why: "It was paired before and no longer has the keys, as after a reset to the factory "
          + "state. Forget it here too, then pair again.",
        help: context.unpair + " && " + context.pair, exit: .permissionDenied)
    case .pairingFailed(let reason):
      self.init(
        .pairingFailed, "the devices could not be paired", why: (demand ?? "") + reason,
        help: context.pair, exit: .permissionDenied)
    case .insufficient(let reached):
      self.init(
        .pairingFailed, "the pairing is weaker than the device wants it",
        why: (demand ?? "")
          + (reached.contains(.encryption)
            ? "The link is encrypted, but nobody compared or entered a passkey."
            : "The link is not encrypted."),
        help: context.pair, exit: .permissionDenied)
    case .timedOut(let limit):
      self.init(
        .pairingFailed, "the devices were not paired within \(Text.seconds(limit))",
        why: (demand ?? "") + "Nobody answered, here or at the device.", help: context.pair,
        exit: .permissionDenied, retryable: true)
    case .linkLost(let loss):
      self.init(
        .linkLost, "the link was lost while it was being secured", why: loss.sentence,
        help: context.again, exit: .linkLost, retryable: true)
    case .cancelled:
      self.init(
        .interrupted, "pairing was stopped", why: "The devices are not paired.",
        help: context.again, exit: .linkLost, retryable: true)
    }
  }
}
