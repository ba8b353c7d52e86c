import Glibc
import OtaflashGATT

/// How far the opening of a link had come when a system call failed: the same error number means
/// different things at different steps.
enum ConnectStage: Equatable, Sendable {
  case socket, bind, option
  /// `connect()` itself failed, at once.
  case connect
  /// The attempt was under way and ended with an error.
  case completion
}

extension LinkLoss {
  /// What an error of an established socket means (kernel `net/bluetooth/lib.c:bt_to_errno`).
  init(socketError number: Int32) {
    switch number {
    case ECONNRESET, EPIPE: self = .closedByPeer
    case ETIMEDOUT: self = .supervisionTimeout
    case ECONNABORTED:
      self = .failed(
        errno: number,
        reason: "This computer ended the link: the adapter was switched off, encryption failed or "
          + "another program disconnected the device. If it keeps happening, remove the pairing.")
    case ENOTCONN:
      self = .failed(
        errno: number,
        reason: "The link is not usable: it is not connected, or encryption is not done.")
    case EACCES, EBADE: self = .keysRefused
    case ENOSYS:
      self = .failed(
        errno: number,
        reason: "The link broke while it was set up (HCI 0x3E or similar): interference or a weak "
          + "signal. Try again, closer to the device.")
    default:
      self = .failed(
        errno: number, reason: "The socket failed: \(SystemError(number).text) (errno \(number)).")
    }
  }
}

extension ConnectFault {
  /// What an error means while the L2CAP channel to a device is opened (kernel 6.1 and 6.12).
  init(l2capError number: Int32, at stage: ConnectStage, device: String) {
    switch (stage, number) {
    case (.socket, EAFNOSUPPORT):
      self = .adapterUnavailable(
        cause: "This kernel has no Bluetooth, or the process runs in a container with a network of "
          + "its own.",
        remedy: .installBluetooth)
    case (.socket, EPROTONOSUPPORT):
      self = .adapterUnavailable(
        cause: "The kernel's Bluetooth has no L2CAP: it must be built with CONFIG_BT_LE.",
        remedy: .installBluetooth)
    case (.socket, EPERM), (.socket, EACCES), (.bind, EPERM), (.bind, EACCES):
      self = .permissionDenied(
        cause: "The system forbids Bluetooth sockets to this process.", remedy: .grantCapabilities)
    case (.bind, EADDRINUSE):
      self = .busy(
        cause: "Another process listens on the attribute channel; usually bluetoothd.",
        remedy: .stopOtherServer)
    case (.bind, EADDRNOTAVAIL), (.connect, EHOSTUNREACH), (.completion, EHOSTUNREACH),
      (.connect, EHOSTDOWN), (.completion, EHOSTDOWN), (.connect, ENODEV), (.connect, ENETDOWN):
      self = .adapterUnavailable(
        cause: "No Bluetooth adapter with that address is switched on.",
        remedy: .turnAdapterOn(adapter: nil))
    case (.connect, EBUSY), (.completion, EBUSY), (.connect, EALREADY), (.completion, EALREADY):
      self = .busy(
        cause: "Another program holds the link to \(device); usually bluetoothd.",
        remedy: .disconnectElsewhere(device: device))
    case (.connect, ECONNREFUSED), (.connect, EOPNOTSUPP), (.completion, EOPNOTSUPP):
      self = .adapterUnavailable(
        cause: "Bluetooth LE is off on the adapter, or the adapter does not support it.",
        remedy: .turnLowEnergyOn(adapter: nil))
    default:
      self.init(l2capAttempt: number, at: stage, device: device)
    }
  }

  /// The errors of an attempt that reached the radio.
  private init(l2capAttempt number: Int32, at stage: ConnectStage, device: String) {
    switch (stage, number) {
    case (.completion, ECONNREFUSED):
      self = .deviceNotFound(
        cause: "\(device) did not advertise within the time limit, or its address is of the other "
          + "type.",
        remedy: .checkAddress)
    case (.completion, ETIMEDOUT), (.completion, ECONNRESET), (.completion, ECONNABORTED),
      (.completion, ENOSYS), (.completion, EPROTO), (.completion, EPIPE), (.completion, EACCES),
      (.completion, EBADE):
      self = .lostWhileConnecting(LinkLoss(socketError: number))
    case (.connect, EMLINK), (.completion, EMLINK):
      self = .busy(
        cause: "The adapter has as many connections as it can hold.",
        remedy: .endAConnection)
    case (.connect, EINVAL), (.connect, EISCONN):
      self = .systemCall(
        name: "connect", errno: number, cause: "The kernel refused the socket's settings.",
        remedy: .report)
    default:
      let name = stage.systemCall
      self = .systemCall(
        name: name, errno: number, cause: "\(name) failed: \(SystemError(number).text).",
        remedy: .examineSystem)
    }
  }

  /// What an error means while a Unix socket is connected or listened on.
  init(unixError number: Int32, at stage: ConnectStage, path: String) {
    switch number {
    case ENOENT where stage == .bind, ENOTDIR where stage == .bind:
      self = .systemCall(
        name: stage.systemCall, errno: number,
        cause: "The folder that shall hold \(path) does not exist.",
        remedy: .advice("Make the folder, or choose another path."))
    case ENOENT, ENOTDIR:
      self = .deviceNotFound(
        cause: "There is no socket at \(path).",
        remedy: .startDevice(path: path))
    case ECONNREFUSED:
      self = .deviceNotFound(
        cause: "Nobody listens at \(path).",
        remedy: .startDevice(path: path))
    case EACCES, EPERM:
      self = .permissionDenied(
        cause: "The permissions of \(path) forbid it.", remedy: .checkPermissions(path: path))
    case EADDRINUSE where !UnixAddress.isSocket(path):
      self = .systemCall(
        name: stage.systemCall, errno: number, cause: "\(path) is there, and is no socket.",
        remedy: .chooseAnotherPath)
    case EADDRINUSE:
      self = .busy(
        cause: "Another process listens at \(path).", remedy: .chooseAnotherPath)
    case EPROTOTYPE:
      self = .systemCall(
        name: "connect", errno: number, cause: "\(path) is a socket of another type.",
        remedy: .advice("The device must listen on a SOCK_SEQPACKET socket."))
    case ECONNRESET, EPIPE:
      self = .lostWhileConnecting(.closedByPeer)
    default:
      let name = stage.systemCall
      self = .systemCall(
        name: name, errno: number,
        cause: "\(name) failed on \(path): \(SystemError(number).text).",
        remedy: .advice("Check the path, and how many files this process may open (`ulimit -n`)."))
    }
  }
}

extension ConnectStage {
  var systemCall: String {
    switch self {
    case .socket: "socket"
    case .bind: "bind"
    case .option: "setsockopt"
    case .connect, .completion: "connect"
    }
  }
}
