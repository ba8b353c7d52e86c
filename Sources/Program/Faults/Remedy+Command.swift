import OtaflashBlueZ
import OtaflashConsole
import OtaflashDevices
import OtaflashGATT

/// The remedies as commands of this system and options of this program.
extension Remedy {
  /// Returns a command that works as printed; `nil` if the remedy is not a command.
  package func help(in context: FaultContext) -> String? {
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

  /// Returns the remedy as a sentence; `nil` if the help line or the text of the fault already
  /// states the remedy.
  package func words(for program: String) -> String? {
    let program = ShellWords.quote(program)
    return switch self {
    case .installBluetooth:
      "Run `modprobe bluetooth` on the host; start containers with `--net=host`."
    case .grantCapabilities:
      "Run `sudo setcap cap_net_raw,cap_net_admin+ep \"$(command -v \(program))\"`."
    case .checkPermissions(let path): "Run `ls -l -- \(ShellWords.quote(path))`."
    case .report: "Report it with the output of `\(program) --version` and `uname -r`."
    case .plugInAdapter: "Plug in an adapter; run `dmesg`."
    case .chooseAnotherAdapter: "Run `btmgmt info` to list the adapters; choose one with --adapter."
    case .turnAdapterOn(nil): "Run `rfkill unblock bluetooth` and `btmgmt power on`."
    case .turnAdapterOn(let adapter?): "Run `btmgmt \(Self.index(adapter))power on`."
    case .turnLowEnergyOn(let adapter):
      "Run `btmgmt \(adapter.map(Self.index) ?? "")le on`."
    case .unblockAdapter: "Run `rfkill unblock bluetooth`."
    case .flipSwitch: "Turn on the hardware switch; see `rfkill list`."
    case .endOtherScan: "Run `bluetoothctl scan off`."
    case .stopOtherServer:
      "Run `systemctl stop bluetooth`, or use another adapter with `--adapter`."
    case .endAConnection: "Run `bluetoothctl devices Connected` and disconnect one."
    case .disconnectElsewhere(let device): "Run `bluetoothctl disconnect \(device)`."
    case .checkAddress:
      "Run `\(program) scan`; or append `/public` or `/random` to the address."
    case .startDevice(let path):
      "Start the device first: `\(program) simulate --listen \(ShellWords.quote(path))`."
    case .pairAgain: "Remove the pairing also on this host, and pair again."
    case .forgetPairing: "Remove the pairing also on this host, and run the same command again."
    case .giveKey:
      "Put the key, raw or as hex digits, in a file that only you can read."
    case .sayVersion:
      "Set --image-version, or send the image without a version with --allow-unknown."
    case .sayHardware:
      "Set --hardware, or send the image without this check with --allow-unknown."
    case .correctVersion: "Set --image-version to the version that the application reports."
    case .leaveProtocolOpen: "'flash --protocol auto' uses a protocol that the device offers."
    case .wait, .chooseAnotherPath, .restartAdapter, .comeCloser, .advice: description
    case .tryAgain, .startOver, .examineSystem, .restartDevice, .inspectDevice,
      .enterUpdateMode, .pair, .checkKey, .chooseAnotherImage, .allowDowngrade, .chooseProtocol,
      .allowWholeImage, .requestSmallerMTU, .sendSmallestPackets, .sendSmallerRequests,
      .updateSoftware,
      .listSlots, .confirmRunningImage, .restartIntoWaitingImage:
      nil
    }
  }

  /// Returns the option of btmgmt for an adapter: `--index 1 ` for `hci1`.
  private static func index(_ adapter: String) -> String {
    "--index \(adapter.removingPrefix("hci") ?? adapter) "
  }
}
