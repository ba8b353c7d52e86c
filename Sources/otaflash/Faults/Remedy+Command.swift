import OtaflashBlueZ
import OtaflashConsole
import OtaflashDevices
import OtaflashGATT

/// What helps, with this system's commands and this program's options.
extension Remedy {
  /// A command that works as printed; `nil` where none does it.
  func help(in context: FaultContext) -> String? {
    switch self {
    case .tryAgain, .wait: context.again
    case .startOver: context.again(with: "--restart")
    case .examineSystem: context.doctor
    case .inspectDevice, .enterUpdateMode, .checkKey, .correctVersion, .leaveProtocolOpen:
      context.inspectDevice
    case .pair: context.pair
    case .pairAgain: context.unpair + " && " + context.pair
    case .forgetPairing: context.unpair + " && " + context.again
    case .giveKey: context.again(with: "--key-file", "ota.key")
    case .chooseAnotherImage: context.inspectImage
    case .allowDowngrade: context.again(with: "--allow-downgrade")
    case .sayVersion: context.againSaying(version: true, hardware: false)
    case .sayHardware: context.againSaying(version: false, hardware: true)
    case .chooseProtocol(let names): context.again(choosing: "--protocol", names.first ?? "auto")
    case .allowWholeImage: context.again(choosing: "--delta", "auto")
    case .requestSmallerMTU: context.again(choosing: "--mtu", "185")
    case .sendSmallestPackets: context.again(choosing: "--chunk", "20")
    case .sendSmallerRequests: context.again(choosing: "--chunk", "64")
    case .updateSoftware: context.command(["--version"])
    case .listSlots: context.aboutDevice("slots", "list")
    case .confirmRunningImage: context.aboutDevice("slots", "confirm")
    case .restartIntoWaitingImage: context.aboutDevice("reset")
    case .installBluetooth, .grantCapabilities, .checkPermissions, .chooseAnotherPath, .report,
      .plugInAdapter, .chooseAnotherAdapter, .turnAdapterOn, .turnLowEnergyOn, .unblockAdapter,
      .flipSwitch, .restartAdapter, .endOtherScan, .stopOtherServer, .endAConnection, .comeCloser,
      .disconnectElsewhere, .checkAddress, .startDevice, .restartDevice, .advice:
      nil
    }
  }

  /// What it takes, as a sentence; `nil` where the help line says it, or the fault's own words.
  func words(for program: String) -> String? {
    let program = ShellWords.quote(program)
    return switch self {
    case .installBluetooth:
      "Run `modprobe bluetooth` on the host; start containers with `--net=host`."
    case .grantCapabilities:
      "Run `sudo setcap cap_net_raw,cap_net_admin+ep \"$(command -v \(program))\"`."
    case .checkPermissions(let path): "Run `ls -l -- \(ShellWords.quote(path))`."
    case .report: "Report it with the output of `\(program) --version` and `uname -r`."
    case .plugInAdapter: "Plug one in; run `dmesg`."
    case .chooseAnotherAdapter: "Run `btmgmt info` to see the adapters; --adapter chooses one."
    case .turnAdapterOn(nil): "Run `rfkill unblock bluetooth` and `btmgmt power on`."
    case .turnAdapterOn(let adapter?): "Run `btmgmt \(Self.index(adapter))power on`."
    case .turnLowEnergyOn(let adapter):
      "Run `btmgmt \(adapter.map(Self.index) ?? "")le on`."
    case .unblockAdapter: "Run `rfkill unblock bluetooth`."
    case .flipSwitch: "Flip it; see `rfkill list`."
    case .endOtherScan: "Run `bluetoothctl scan off`."
    case .stopOtherServer:
      "Run `systemctl stop bluetooth`, or use another adapter with `--adapter`."
    case .endAConnection: "Run `bluetoothctl devices Connected` and disconnect one."
    case .disconnectElsewhere(let device): "Run `bluetoothctl disconnect \(device)`."
    case .checkAddress:
      "Run `\(program) scan`; try the address with `/public` or `/random` at its end."
    case .startDevice(let path):
      "Start the device first: `\(program) simulate --listen \(ShellWords.quote(path))`."
    case .pairAgain: "Forget it here too, then pair again."
    case .forgetPairing: "Forget the pairing here, too, and run the same command again."
    case .giveKey:
      "Put it, raw or as hex digits, in a file that only you can read."
    case .sayVersion: "--image-version says it, --allow-unknown goes without."
    case .sayHardware: "--hardware says it, --allow-unknown goes without."
    case .correctVersion: "Give as --image-version what the application tells."
    case .leaveProtocolOpen: "'flash --protocol auto' takes what the device offers."
    case .wait, .chooseAnotherPath, .restartAdapter, .comeCloser, .advice: description
    case .tryAgain, .startOver, .examineSystem, .restartDevice, .inspectDevice,
      .enterUpdateMode, .pair, .checkKey, .chooseAnotherImage, .allowDowngrade, .chooseProtocol,
      .allowWholeImage, .requestSmallerMTU, .sendSmallestPackets, .sendSmallerRequests,
      .updateSoftware,
      .listSlots, .confirmRunningImage, .restartIntoWaitingImage:
      nil
    }
  }

  /// `--index 1 ` for `hci1`.
  private static func index(_ adapter: String) -> String {
    "--index \(adapter.removingPrefix("hci") ?? adapter) "
  }
}

extension FaultReport {
  /// A fault of the libraries: its own words, and its remedy as a command.
  ///
  /// - Parameters:
  ///   - what: instead of the fault's own.
  ///   - help: where the remedy is no command.
  init(
    _ fault: some ExplainedFault, _ verdict: Verdict, what: String? = nil,
    help: String, in context: FaultContext
  ) {
    let words = [fault.explanation, fault.remedy?.words(for: context.program)]
    self.init(
      verdict.code, what ?? fault.summary, why: words.compactMap(\.self).joined(separator: " "),
      help: fault.remedy?.help(in: context) ?? help, exit: verdict.exit,
      retryable: verdict.retryable)
  }

  /// What a fault means for the process and for programs that read it.
  struct Verdict {
    let code: FaultCode
    let exit: ExitStatus
    /// As `FaultReport.retryable`.
    let retryable: Bool

    init(_ code: FaultCode, _ exit: ExitStatus, retryable: Bool = false) {
      self.code = code
      self.exit = exit
      self.retryable = retryable
    }
  }
}

extension FaultContext {
  var pair: String { aboutDevice("pair") }
  /// A device without an address has no keys.
  var unpair: String {
    guard let device = subject.device, !device.hasPrefix("unix:"), !device.hasPrefix("sim:") else {
      return command(["devices"])
    }
    return aboutDevice("unpair")
  }

  /// Another command on this run's device, over the same adapter.
  func aboutDevice(_ words: String...) -> String {
    guard let device = subject.device else { return command(words + ["--help"]) }
    return command(adapterWords + words + ["-d", device])
  }

  /// `--adapter hci1`, where this run was given it.
  private var adapterWords: [String] {
    for (word, next) in zip(arguments, arguments.dropFirst()) where word == "--adapter" {
      return [word, next]
    }
    return arguments.filter { $0.hasPrefix("--adapter=") }
  }
}
