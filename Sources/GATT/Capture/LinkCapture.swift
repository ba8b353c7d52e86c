import OtaflashATT
import Synchronization

/// The address of the device in a capture.
public struct CapturedPeer: Equatable, Sendable {
  /// The six bytes of the address, least significant first.
  public let littleEndian: [UInt8]
  /// Whether the address is random; otherwise it is public.
  public let isRandom: Bool

  /// Creates an address; returns `nil` unless `bytes` has six bytes.
  public init?(littleEndian bytes: [UInt8], isRandom: Bool) {
    guard bytes.count == 6 else { return nil }
    littleEndian = bytes
    self.isRandom = isRandom
  }
}

/// A log of all PDUs on the attribute bearers of some links, in the BTSnoop format. For each
/// connection, the log contains the start, the PDUs and the end. Dissectors obtain the attribute
/// types from the discovery.
public final class LinkCapture: Sendable {
  /// The range of connection handles (Core 5.4, Vol 4, Part E, 5.4.2). Handles start at 0 and are
  /// reused, because btmon 5.66 crashes with a segmentation fault at other handles on a computer
  /// without an adapter.
  private static let handles: ClosedRange<UInt16> = 0x0000...0x0EFF

  private struct State {
    var handlesInUse: Set<UInt16> = []
    /// The time of the last record, in microseconds since 1970.
    var latest: Int64 = 0
  }

  private let state = Mutex(State())
  private let write: @Sendable ([UInt8]) -> Void

  /// - Parameter write: receives complete records, to be written after `BTSnoop.fileHeader`. The
  ///   links wait for this closure, so it must return quickly.
  public init(write: @escaping @Sendable ([UInt8]) -> Void) { self.write = write }

  /// Returns the time in the log at which a clock starts, in microseconds since 1970, if the wall
  /// clock reads `now`. A simulated clock runs faster than the wall clock, and the next simulated
  /// clock starts again at 0, so its time in the log continues from the latest record.
  func epoch(of clock: any LinkClock, now: Int64) -> Int64 {
    max(now, state.withLock { $0.latest }) - Self.microseconds(clock.now)
  }

  /// Returns the link; its PDUs are captured from this call until the link ends.
  func capturing(
    _ link: any Link, to peer: CapturedPeer, on clock: any LinkClock, epoch: Int64
  ) -> TracingLink {
    let handle = takeHandle()
    record(.connected(handle, to: peer, link.facts), .received, epoch, clock.now)
    return TracingLink(link, clock: clock) { [self] crossing in
      record(
        .attribute(crossing.pdu, on: handle, crossing.direction), crossing.direction, epoch,
        crossing.instant)
    } ended: { [self] loss, instant in
      record(.disconnected(handle, because: loss), .received, epoch, instant)
      state.withLock { _ = $0.handlesInUse.remove(handle) }
    }
  }

  private func record(
    _ packet: HCIPacket, _ direction: TracingLink.Direction, _ epoch: Int64, _ instant: LinkInstant
  ) {
    let time = epoch + Self.microseconds(instant)
    state.withLock { $0.latest = max($0.latest, time) }
    write(BTSnoop.record(packet, direction, at: time))
  }

  private static func microseconds(_ instant: LinkInstant) -> Int64 {
    let (seconds, attoseconds) = instant.elapsed.components
    return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
  }

  private func takeHandle() -> UInt16 {
    state.withLock { state in
      guard let free = Self.handles.first(where: { !state.handlesInUse.contains($0) }) else {
        preconditionFailure("more than \(Self.handles.count) links are captured at the same time")
      }
      state.handlesInUse.insert(free)
      return free
    }
  }
}

extension Dialer {
  /// Returns the same dialer; its links are recorded in `capture`.
  ///
  /// - Parameters:
  ///   - capture: the log.
  ///   - peer: the address of the device in the log.
  ///   - clock: the clock of the links.
  ///   - now: the current time in microseconds since 1970, from which the times in the log
  ///   continue.
  public func capturing(
    into capture: LinkCapture, as peer: CapturedPeer, on clock: any LinkClock, now: Int64
  ) -> Dialer {
    let epoch = capture.epoch(of: clock, now: now)
    return wrapping { capture.capturing($0, to: peer, on: clock, epoch: epoch) }
  }
}
