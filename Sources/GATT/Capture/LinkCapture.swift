import OtaflashATT
import Synchronization

/// The device at the other end of a captured link, as the log shall name it.
public struct CapturedPeer: Equatable, Sendable {
  /// Six bytes, least significant first.
  public let littleEndian: [UInt8]
  /// The address is a random one.
  public let isRandom: Bool

  /// `nil` unless there are six bytes.
  public init?(littleEndian bytes: [UInt8], isRandom: Bool) {
    guard bytes.count == 6 else { return nil }
    littleEndian = bytes
    self.isRandom = isRandom
  }
}

/// A log of everything that crosses the attribute bearers of some links, in the BTSnoop format.
/// Dissectors see a connection begin and end, and between them its PDUs; since discovery is among
/// them, they name the attributes too.
public final class LinkCapture: Sendable {
  /// Core 5.4, Vol 4, Part E, 5.4.2. Numbers start at 0 and are used again: btmon 5.66 ends with a
  /// segmentation fault at another one on a computer without an adapter.
  private static let handles: ClosedRange<UInt16> = 0x0000...0x0EFF

  private struct State {
    var handlesInUse: Set<UInt16> = []
    /// The time of the latest record, in microseconds since 1970.
    var latest: Int64 = 0
  }

  private let state = Mutex(State())
  private let write: @Sendable ([UInt8]) -> Void

  /// - Parameter write: gets whole records, which belong behind `BTSnoop.fileHeader`. The links
  ///   wait for it, so it must return soon.
  public init(write: @escaping @Sendable ([UInt8]) -> Void) { self.write = write }

  /// What a clock's start is in the log, in microseconds since 1970, when it is `now` on the wall.
  /// A simulation's clock runs ahead of the wall's, and the next one starts anew: time in the log
  /// goes on from the latest record then.
  func epoch(of clock: any LinkClock, now: Int64) -> Int64 {
    max(now, state.withLock { $0.latest }) - Self.microseconds(clock.now)
  }

  /// The link, captured from now to its end.
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
        preconditionFailure("more than \(Self.handles.count) links are captured at once")
      }
      state.handlesInUse.insert(free)
      return free
    }
  }
}

extension Dialer {
  /// The same, with its links recorded in `capture`.
  ///
  /// - Parameters:
  ///   - capture: the log.
  ///   - peer: how the log names the device.
  ///   - clock: the links' own.
  ///   - now: this moment, in microseconds since 1970; the times in the log go on from it.
  public func capturing(
    into capture: LinkCapture, as peer: CapturedPeer, on clock: any LinkClock, now: Int64
  ) -> Dialer {
    let epoch = capture.epoch(of: clock, now: now)
    return wrapping { capture.capturing($0, to: peer, on: clock, epoch: epoch) }
  }
}
