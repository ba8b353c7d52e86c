import COtaflashBluetooth
import Glibc
import OtaflashGATT

/// The data sources of the checks, which a test can replace.
struct DoctorFacts: Sendable {
  /// Returns the error number of opening an L2CAP socket; 0 on success.
  var socketError: @Sendable () -> Int32
  var openSession: @Sendable () throws(MgmtFault) -> MgmtSession
  var switches: @Sendable () -> [RFKillSwitch]?
  var capabilities: @Sendable () -> Capabilities?
  var isDaemonRunning: @Sendable () -> Bool

  /// The data sources of this host.
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
