import COtaflashBluetooth
import Glibc
import OtaflashGATT

/// Where the doctor looks, so that a test can describe another machine.
struct DoctorFacts: Sendable {
  /// The error of opening an L2CAP socket; 0 when it opens.
  var socketError: @Sendable () -> Int32
  var openSession: @Sendable () throws(MgmtFault) -> MgmtSession
  var switches: @Sendable () -> [RFKillSwitch]?
  var capabilities: @Sendable () -> Capabilities?
  var isDaemonRunning: @Sendable () -> Bool

  /// This machine.
  static let machine = DoctorFacts(
    socketError: {
      let raw = socket(AF_BLUETOOTH, otaflash_seqpacket_type, BTPROTO_L2CAP)
      guard raw >= 0 else { return errno }
      _ = FileDescriptor(owning: raw)
      return 0
    },
    openSession: { () throws(MgmtFault) in try MgmtSession() },
    switches: { RFKillSwitch.all() },
    capabilities: { Capabilities.ofThisProcess },
    isDaemonRunning: { ProcessFile.isRunning("bluetoothd") })
}
