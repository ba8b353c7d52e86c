import Synchronization

/// What an update has done so far, over all its connections: the one thing that its steps share.
final class UpdateTally: Sendable {
  struct Counts: Equatable, Sendable {
    /// The furthest octet that the device has acknowledged, and that the last connection began at.
    var acknowledged = 0
    var octetsSent = 0
    var resumes = 0
    var uploadTook = Duration.zero
    /// Image octets a data write may have at most, as learned from this device.
    var chunkCeiling = Int.max
  }

  private let counts = Mutex(Counts())

  var now: Counts { counts.withLock { $0 } }

  func acknowledge(_ offset: Int) { counts.withLock { $0.acknowledged = offset } }
  func send(_ octets: Int) { counts.withLock { $0.octetsSent += octets } }
  func resume() { counts.withLock { $0.resumes += 1 } }
  func limitChunk(to octets: Int) { counts.withLock { $0.chunkCeiling = octets } }
  func upload(took time: Duration) { counts.withLock { $0.uploadTook += time } }
}
