import Glibc
import OtaflashGATT

/// The step of opening a link at which a system call failed, because the same error number has
/// different meanings at different steps.
enum ConnectStage: Equatable, Sendable {
  case socket, bind, option
  /// The call of `connect()` failed immediately.
  case connect
  /// The attempt was in progress and ended with an error.
  case completion
}

extension LinkLoss {
  /// Creates the loss for an error on an established socket (kernel
  /// `net/bluetooth/lib.c:bt_to_errno`).
  init(socketError number: Int32) {
    switch number {
    case ECONNRESET, EPIPE: self = .closedByPeer
    case ETIMEDOUT: self = .supervisionTimeout
    case ECONNABORTED:
      self = .failed(
        errno: number,
        reason: "The host ended the link: the adapter was switched off, encryption failed or "
          + "another program disconnected the device. If this error repeats, remove the pairing.")
    case ENOTCONN:
      self = .failed(
        errno: number,
        reason: "The link is not usable: it is not connected or not yet encrypted.")
    case EACCES, EBADE: self = .keysRefused
    case ENOSYS:
      self = .failed(
        errno: number,
        reason: "The link was lost during setup (HCI 0x3E or similar): interference or a weak "
          + "signal. Move closer to the device, and try again.")
    default:
      self = .failed(
        errno: number, reason: "The socket failed: \(SystemError(number).text) (errno \(number)).")
    }
  }
}

extension ConnectFault {
  /// Creates the fault for an error while the L2CAP channel to a device is opened (kernel 6.1 and
  /// 6.12).
  init(l2capError number: Int32, at stage: ConnectStage, device: String) {
    switch (stage, number) {
    case (.socket, EAFNOSUPPORT):
      self = .adapterUnavailable(
        cause: "This kernel has no Bluetooth, or the process runs in a container with a separate "
          + "network.",
        remedy: .installBluetooth)
    case (.socket, EPROTONOSUPPORT):
      self = .adapterUnavailable(
        cause: "The kernel's Bluetooth has no L2CAP: it must be built with CONFIG_BT_LE.",
        remedy: .installBluetooth)
    case (.socket, EPERM), (.socket, EACCES), (.bind, EPERM), (.bind, EACCES):
      self = .permissionDenied(
        cause: "The system does not permit this process to use Bluetooth sockets.",
        remedy: .grantCapabilities)
    case (.bind, EADDRINUSE):
      self = .busy(
        cause: "Another process, usually bluetoothd, listens on the attribute channel.",
        remedy: .stopOtherServer)
    case (.bind, EADDRNOTAVAIL), (.connect, EHOSTUNREACH), (.completion, EHOSTUNREACH),
      (.connect, EHOSTDOWN), (.completion, EHOSTDOWN), (.connect, ENODEV), (.connect, ENETDOWN):
      self = .adapterUnavailable(
        cause: "No Bluetooth adapter with that address is switched on.",
        remedy: .turnAdapterOn(adapter: nil))
    case (.connect, EBUSY), (.completion, EBUSY), (.connect, EALREADY), (.completion, EALREADY):
      self = .busy(
        cause: "Another program, usually bluetoothd, holds the link to \(device).",
        remedy: .disconnectElsewhere(device: device))
    case (.connect, ECONNREFUSED), (.connect, EOPNOTSUPP), (.completion, EOPNOTSUPP):
      self = .adapterUnavailable(
        cause: "Bluetooth LE is off on the adapter, or the adapter does not support it.",
        remedy: .turnLowEnergyOn(adapter: nil))
    default:
      self.init(l2capAttempt: number, at: stage, device: device)
    }
  }

  /// Creates the fault for an error of an attempt that used the radio.
  private init(l2capAttempt number: Int32, at stage: ConnectStage, device: String) {
    switch (stage, number) {
    case (.completion, ECONNREFUSED):
      self = .deviceNotFound(
        cause: "\(device) did not advertise within the time limit, or its address type (public or "
          + "random) is wrong.",
        remedy: .checkAddress)
    case (.completion, ETIMEDOUT), (.completion, ECONNRESET), (.completion, ECONNABORTED),
      (.completion, ENOSYS), (.completion, EPROTO), (.completion, EPIPE), (.completion, EACCES),
      (.completion, EBADE):
      self = .lostWhileConnecting(LinkLoss(socketError: number))
    case (.connect, EMLINK), (.completion, EMLINK):
      self = .busy(
        cause: "The adapter has reached its maximum number of connections.",
        remedy: .endAConnection)
    case (.connect, EINVAL), (.connect, EISCONN):
      self = .systemCall(
        name: "connect", errno: number, cause: "The kernel rejected the socket's settings.",
        remedy: .report)
    default:
      let name = stage.systemCall
      self = .systemCall(
        name: name, errno: number, cause: "\(name) failed: \(SystemError(number).text).",
        remedy: .examineSystem)
    }
  }

  /// Creates the fault for an error while connecting to or listening on a Unix socket.
  init(unixError number: Int32, at stage: ConnectStage, path: String) {
    switch number {
    case ENOENT where stage == .bind, ENOTDIR where stage == .bind:
      self = .systemCall(
        name: stage.systemCall, errno: number,
        cause: "The directory of \(path) does not exist.",
        remedy: .advice("Create the directory, or choose another path."))
    case ENOENT, ENOTDIR:
      self = .deviceNotFound(
        cause: "There is no socket at \(path).",
        remedy: .startDevice(path: path))
    case ECONNREFUSED:
      self = .deviceNotFound(
        cause: "No process listens at \(path).",
        remedy: .startDevice(path: path))
    case EACCES, EPERM:
      self = .permissionDenied(
        cause: "The permissions of \(path) do not permit the connection.",
        remedy: .checkPermissions(path: path))
    case EADDRINUSE where !UnixAddress.isSocket(path):
      self = .systemCall(
        name: stage.systemCall, errno: number, cause: "\(path) exists, but is not a socket.",
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
        remedy: .advice("Check the path, and the limit of open files (`ulimit -n`)."))
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
