import OtaflashFirmware
import Synchronization

/// What an update has done so far, over all its connections: the one thing that its steps share.
final class UpdateTally: Sendable {
  struct Counts: Equatable, Sendable {
    /// The furthest octet that the device has acknowledged, and that the last connection began at.
    var acknowledged = 0
    var octetsSent = 0
    /// The device keeps what it has acknowledged over the end of a connection.
    var keepsProgress = false
    var resumes = 0
    var uploadTook = Duration.zero
    /// Of announcing the images, for which a device may erase its flash.
    var prepareTook = Duration.zero
    /// Image octets a data write may have at most, as learned from this device.
    var chunkCeiling = Int.max
    /// Transfers that began anew because the device had dropped packets.
    var packetLosses = 0
    /// The board's, as it was told first.
    var hardware: HardwareID?
    /// Those of them that may have begun before the device's flash was ready.
    var earlyLosses = 0

    /// Octets that are still there when the next connection begins.
    var kept: Int { keepsProgress ? acknowledged : 0 }
  }

  private let counts = Mutex(Counts())
  private let hasConnected = Mutex(false)
  private let chosen = Mutex<UpdateProtocol?>(nil)
  private let earlier = Mutex(Earlier())
  private let restart = Mutex<String?>(nil)

  private struct Earlier {
    var identity: ApplicationIdentity?
    /// Whoever answers from now on may be the new application.
    var isOver = false
  }

  /// The protocol that the first connection settled: a device that has restarted may offer none.
  var updateProtocol: UpdateProtocol? { chosen.withLock { $0 } }

  /// The device was reached before, so silence now is a loss.
  var wasConnected: Bool { hasConnected.withLock { $0 } }

  func connected() { hasConnected.withLock { $0 = true } }

  func choose(_ updateProtocol: UpdateProtocol) { chosen.withLock { $0 = updateProtocol } }

  /// What the application told of itself before anything was activated; `nil` when it was not met.
  var identityBefore: ApplicationIdentity? { earlier.withLock { $0.identity } }

  func met(_ identity: ApplicationIdentity) {
    earlier.withLock { if !$0.isOver { $0.identity = $0.identity ?? identity } }
  }

  /// The host has restarted the device: the loss of the link that follows is none.
  func restarted(because reason: String) { restart.withLock { $0 = reason } }

  /// Why the host has restarted the device, if it did so since this was asked last.
  func takeRestart() -> String? {
    restart.withLock { reason in
      defer { reason = nil }
      return reason
    }
  }

  func activate() { earlier.withLock { $0.isOver = true } }

  var now: Counts { counts.withLock { $0 } }

  func acknowledge(_ offset: Int) { counts.withLock { $0.acknowledged = offset } }
  func send(_ octets: Int) { counts.withLock { $0.octetsSent += octets } }
  func resume() { counts.withLock { $0.resumes += 1 } }
  func limitChunk(to octets: Int) { counts.withLock { $0.chunkCeiling = octets } }
  func meet(_ hardware: HardwareID?) {
    counts.withLock { $0.hardware = $0.hardware ?? hardware }
  }
  func keepsProgress(_ keeps: Bool) { counts.withLock { $0.keepsProgress = keeps } }
  func losePackets() { counts.withLock { $0.packetLosses += 1 } }
  func losePacketsEarly() { counts.withLock { $0.earlyLosses += 1 } }
  func upload(took time: Duration) { counts.withLock { $0.uploadTook += time } }
  func prepare(took time: Duration) { counts.withLock { $0.prepareTook += time } }
}
