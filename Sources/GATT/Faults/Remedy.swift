/// What a person can do about a fault. An application turns a remedy into what it has: a button, a
/// settings page, a command line.
public enum Remedy: Hashable, Sendable {
  // MARK: The same again

  /// The same again may succeed; what the device holds of a transfer is kept.
  case tryAgain
  /// The same again, but without what the device holds of an earlier transfer.
  case startOver
  /// Somebody else is at work; the same again succeeds once that has ended.
  case wait

  // MARK: The system

  /// The kernel has no Bluetooth, or this process does not see it, as in a container.
  case installBluetooth
  /// The process lacks the right to use Bluetooth (on Linux CAP_NET_RAW and CAP_NET_ADMIN).
  case grantCapabilities
  /// The process may not use this file or socket.
  case checkPermissions(path: String)
  /// A place in the file system cannot be used; another can.
  case chooseAnotherPath
  /// What is wrong with this machine's Bluetooth is to be looked for.
  case examineSystem
  /// It is an error in this software, or in the kernel.
  case report

  // MARK: The adapter

  /// This machine has no Bluetooth adapter.
  case plugInAdapter
  /// This adapter cannot do it, such as one without Bluetooth LE; another may.
  case chooseAnotherAdapter
  /// - Parameter adapter: its name, such as `hci0`; `nil` = whichever is meant.
  case turnAdapterOn(adapter: String?)
  /// The adapter is on, but not for Bluetooth LE.
  ///
  /// - Parameter adapter: its name, such as `hci0`; `nil` = whichever is meant.
  case turnLowEnergyOn(adapter: String?)
  /// A software switch blocks the adapter.
  case unblockAdapter
  /// A switch on the machine blocks the adapter.
  case flipSwitch
  /// The adapter no longer answers as it should; off and on again it may.
  case restartAdapter
  /// Another program scans, and the adapter does one scan at a time.
  case endOtherScan
  /// Another program serves the attribute channel of the adapter.
  case stopOtherServer
  /// The adapter has as many connections as it can hold.
  case endAConnection

  // MARK: The device

  /// It was not heard: it is out of range, off, or connected to somebody else.
  case comeCloser
  /// Another program of this machine holds its link.
  case disconnectElsewhere(device: String)
  /// No device answered at this address; it may be of the other type, public or random.
  case checkAddress
  /// Nobody listens at this Unix socket.
  case startDevice(path: String)
  /// The device is in a state that only a restart ends.
  case restartDevice
  /// What the device says of itself tells more.
  case inspectDevice
  /// Its firmware offers no update until it is put into update mode, if it is the right device.
  case enterUpdateMode

  // MARK: Security

  /// The device wants a link that is encrypted or authenticated by the keys of a pairing.
  case pair
  /// The keys of an earlier pairing no longer fit: forget them here, then pair again.
  ///
  /// - Parameter device: by which the system may know it; `nil` where the keys are our own.
  case pairAgain(device: String?)
  /// The keys of an earlier pairing no longer fit: forget them here, then do the same again, which
  /// pairs where the device requires it.
  case forgetPairing
  /// The device takes updates from those who have its key.
  case giveKey
  /// The device has refused the key that it was given.
  case checkKey

  // MARK: The image

  /// Another file, or the same one built or signed in another way.
  case chooseAnotherImage
  /// The image is older than what runs; it is sent where that is wanted.
  case allowDowngrade
  /// Nothing tells the image's version: neither the file, nor one beside it.
  case sayVersion
  /// Nothing tells which board the image is for.
  case sayHardware
  /// The image is said to be of another version than its application tells.
  case correctVersion

  // MARK: The protocol

  /// One of these is to be chosen.
  case chooseProtocol([String])
  /// The choice is to be left to the device.
  case leaveProtocolOpen
  /// The whole image is to be sent where no patch can be.
  case allowWholeImage
  /// The device has no memory for requests as long as ATT_MTU permits.
  case requestSmallerMTU
  /// Data writes of the size that every device takes: 20 bytes.
  case sendSmallestPackets
  /// Requests that carry fewer bytes of the image.
  case sendSmallerRequests
  /// This software is older than the device.
  case updateSoftware

  // MARK: Slots

  /// What the slots hold is to be looked at.
  case listSlots
  /// The running image is to be made permanent.
  case confirmRunningImage
  /// A restart starts the image that waits for it.
  case restartIntoWaitingImage

  /// What no other case says: a whole sentence.
  case advice(String)
}

extension Remedy: CustomStringConvertible {
  /// A whole sentence for people.
  public var description: String {
    switch self {
    case .tryAgain: "Try it again."
    case .startOver: "Start over, without what the device holds of an earlier transfer."
    case .wait: "Wait until that has ended."
    case .installBluetooth: "Make the kernel's Bluetooth available to this program."
    case .grantCapabilities: "Give this program the right to use Bluetooth."
    case .checkPermissions(let path): "Check the permissions of \(path)."
    case .chooseAnotherPath: "Choose another path."
    case .examineSystem: "Examine this machine's Bluetooth."
    case .report: "Please report it."
    case .plugInAdapter: "Plug in a Bluetooth adapter."
    case .chooseAnotherAdapter: "Use another adapter."
    case .turnAdapterOn(let adapter): "Switch \(adapter ?? "the Bluetooth adapter") on."
    case .turnLowEnergyOn(let adapter):
      "Switch Bluetooth LE on, on \(adapter ?? "the adapter")."
    case .unblockAdapter: "Unblock Bluetooth in the system's settings."
    case .flipSwitch: "Flip the machine's switch for its radios."
    case .restartAdapter: "Switch the adapter off and on again."
    case .endOtherScan: "End the other program's scan."
    case .stopOtherServer: "Stop the other program, or use another adapter."
    case .endAConnection: "End one of the adapter's connections."
    case .comeCloser:
      "Bring the device nearer, switch it on, or end its connection to another host."
    case .disconnectElsewhere(let device): "End the other program's connection to \(device)."
    case .checkAddress: "Look for the device, and check its address and the address's type."
    case .startDevice(let path): "Start the device that listens at \(path) first."
    case .restartDevice: "Restart the device, and try again."
    case .inspectDevice: "Look at what the device says of itself."
    case .enterUpdateMode: "Put the device into update mode, if it is the right one."
    case .pair: "Pair with the device."
    case .pairAgain: "Forget the device on this computer, then pair again."
    case .forgetPairing: "Forget the pairing on this computer, then do the same again."
    case .giveKey: "Give the device's key."
    case .checkKey: "Check that the key is this device's."
    case .chooseAnotherImage: "Choose another image."
    case .allowDowngrade: "Allow the older version, if it is really wanted."
    case .sayVersion: "Say which version the image is."
    case .sayHardware: "Say which hardware the image is for."
    case .correctVersion: "Say as the image's version what its application tells."
    case .chooseProtocol(let names): "Choose a protocol: \(names.joined(separator: ", "))."
    case .leaveProtocolOpen: "Leave the choice of the protocol to the device."
    case .allowWholeImage: "Allow that the whole image is sent."
    case .requestSmallerMTU: "A smaller ATT_MTU may help."
    case .sendSmallestPackets: "Send packets of 20 bytes, which every device takes."
    case .sendSmallerRequests: "Send fewer bytes in each request."
    case .updateSoftware: "Use a newer version of this software."
    case .listSlots: "Look at what its slots hold."
    case .confirmRunningImage: "Confirm the image that runs."
    case .restartIntoWaitingImage: "Restart the device, which starts the image that waits."
    case .advice(let sentence): sentence
    }
  }
}
