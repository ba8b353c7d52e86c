/// A correction that the user can apply to a fault. An application presents a remedy in its own
/// form: a button, a settings page, a command line. The comment of each case states the correction,
/// or the problem that it corrects.
public enum Remedy: Hashable, Sendable {
  // MARK: Repeat

  /// Retry: the retry may succeed, and the device keeps the data of the transfer.
  case tryAgain
  /// Retry without the data that the device holds from an earlier transfer.
  case startOver
  /// Wait: another operation is in progress, and a retry succeeds after it has ended.
  case wait

  // MARK: The system

  /// The kernel has no Bluetooth, or this process has no access to it, as in a container.
  case installBluetooth
  /// The process lacks the permission to use Bluetooth (on Linux CAP_NET_RAW and CAP_NET_ADMIN).
  case grantCapabilities
  /// The process lacks the permission to use a file or a socket.
  case checkPermissions(path: String)
  /// A path in the file system cannot be used; another path may work.
  case chooseAnotherPath
  /// A diagnosis of the host's Bluetooth is needed.
  case examineSystem
  /// An error in this software or in the kernel.
  case report

  // MARK: The adapter

  /// The host has no Bluetooth adapter.
  case plugInAdapter
  /// This adapter does not support the operation, for example because it lacks Bluetooth LE;
  /// another adapter may support it.
  case chooseAnotherAdapter
  /// The adapter is switched off.
  ///
  /// - Parameter adapter: the name of the adapter, such as `hci0`; `nil` for the selected adapter.
  case turnAdapterOn(adapter: String?)
  /// The adapter is on, but Bluetooth LE is disabled.
  ///
  /// - Parameter adapter: the name of the adapter, such as `hci0`; `nil` for the selected adapter.
  case turnLowEnergyOn(adapter: String?)
  /// A software switch blocks the adapter.
  case unblockAdapter
  /// A hardware switch blocks the adapter.
  case flipSwitch
  /// The adapter does not respond correctly; switching it off and on may help.
  case restartAdapter
  /// Another program scans, and the adapter supports one scan at a time.
  case endOtherScan
  /// Another program uses the ATT channel of the adapter.
  case stopOtherServer
  /// The adapter has reached its maximum number of connections.
  case endAConnection

  // MARK: The device

  /// No advertisement was received: the device is out of range, off, or connected to another host.
  case comeCloser
  /// Another program on the host holds the link.
  case disconnectElsewhere(device: String)
  /// No device responded at this address; the address may be of the other type (public or random).
  case checkAddress
  /// No process listens at this Unix socket.
  case startDevice(path: String)
  /// The device is in a state that only a restart ends.
  case restartDevice
  /// The information that the device reports explains the failure in more detail.
  case inspectDevice
  /// The firmware offers no update service until the device is in update mode; the device may also
  /// be another device than the intended device.
  case enterUpdateMode

  // MARK: Security

  /// The device requires a link that is encrypted or authenticated with the keys of a pairing.
  case pair
  /// The keys of an earlier pairing are no longer valid: forget them on the host, then pair again.
  ///
  /// - Parameter device: the device's identifier in the system; `nil` if this software stores the
  ///   keys.
  case pairAgain(device: String?)
  /// The keys of an earlier pairing are no longer valid: forget them on the host, then repeat the
  /// operation, which pairs if the device requires it.
  case forgetPairing
  /// The device accepts updates only from owners of its key.
  case giveKey
  /// The device has rejected the key.
  case checkKey

  // MARK: The image

  /// Use another file, or the same image rebuilt or signed in another way.
  case chooseAnotherImage
  /// The image is older than the running image; permit it explicitly.
  case allowDowngrade
  /// The image has no version, neither in its file nor in its sidecar file.
  case sayVersion
  /// The target hardware of the image is unknown.
  case sayHardware
  /// The version stated for the image differs from the version that its application reports.
  case correctVersion

  // MARK: The protocol

  /// The user must choose one of these protocols.
  case chooseProtocol([String])
  /// The protocol should be selected automatically, from the services of the device.
  case leaveProtocolOpen
  /// The user must permit sending the complete image if no patch is possible.
  case allowWholeImage
  /// The device lacks the memory for requests of the length that ATT_MTU permits.
  case requestSmallerMTU
  /// Data writes should have 20 bytes, the size that every device accepts.
  case sendSmallestPackets
  /// Requests should contain fewer bytes of the image.
  case sendSmallerRequests
  /// This software is older than the device.
  case updateSoftware

  // MARK: Slots

  /// The user should list the contents of the slots.
  case listSlots
  /// The user should make the running image permanent.
  case confirmRunningImage
  /// A restart starts the pending image.
  case restartIntoWaitingImage

  /// A remedy without its own case: a complete sentence.
  case advice(String)
}

extension Remedy: CustomStringConvertible {
  /// A complete sentence for the user.
  public var description: String {
    switch self {
    case .tryAgain: "Try it again."
    case .startOver: "Restart the transfer without the data of an earlier transfer."
    case .wait: "Wait until the other operation has ended."
    case .installBluetooth: "Make the kernel's Bluetooth available to this program."
    case .grantCapabilities: "Give this program the right to use Bluetooth."
    case .checkPermissions(let path): "Check the permissions of \(path)."
    case .chooseAnotherPath: "Choose another path."
    case .examineSystem: "Check the Bluetooth setup of this computer."
    case .report: "Please report it."
    case .plugInAdapter: "Plug in a Bluetooth adapter."
    case .chooseAnotherAdapter: "Use another adapter."
    case .turnAdapterOn(let adapter): "Switch \(adapter ?? "the Bluetooth adapter") on."
    case .turnLowEnergyOn(let adapter):
      "Switch Bluetooth LE on for \(adapter ?? "the adapter")."
    case .unblockAdapter: "Unblock Bluetooth in the system's settings."
    case .flipSwitch: "Turn on the hardware switch of the computer's radios."
    case .restartAdapter: "Switch the adapter off and on again."
    case .endOtherScan: "End the other program's scan."
    case .stopOtherServer: "Stop the other program, or use another adapter."
    case .endAConnection: "End one of the adapter's connections."
    case .comeCloser:
      "Bring the device closer, switch it on, or end its connection to another host."
    case .disconnectElsewhere(let device): "End the other program's connection to \(device)."
    case .checkAddress: "Scan for the device, and check its address and the type of the address."
    case .startDevice(let path): "Start the device that listens at \(path) first."
    case .restartDevice: "Restart the device, then try again."
    case .inspectDevice: "Read the information that the device reports."
    case .enterUpdateMode: "If this is the right device, put it into update mode."
    case .pair: "Pair with the device."
    case .pairAgain: "Forget the device on this computer, then pair again."
    case .forgetPairing: "Forget the pairing on this computer, then try again."
    case .giveKey: "Provide the device's key."
    case .checkKey: "Check that the key belongs to this device."
    case .chooseAnotherImage: "Choose another image."
    case .allowDowngrade: "Allow the older version if you need it."
    case .sayVersion: "State the version of the image."
    case .sayHardware: "State the hardware of the image."
    case .correctVersion: "State the version that the application of the image reports."
    case .chooseProtocol(let names): "Choose a protocol: \(names.joined(separator: ", "))."
    case .leaveProtocolOpen: "Let the library select the protocol."
    case .allowWholeImage: "Allow sending the complete image."
    case .requestSmallerMTU: "A smaller ATT_MTU may help."
    case .sendSmallestPackets: "Send packets of 20 bytes, which every device accepts."
    case .sendSmallerRequests: "Send fewer bytes in each request."
    case .updateSoftware: "Use a newer version of this software."
    case .listSlots: "List the contents of the slots."
    case .confirmRunningImage: "Confirm the running image."
    case .restartIntoWaitingImage: "Restart the device to start the pending image."
    case .advice(let sentence): sentence
    }
  }
}
