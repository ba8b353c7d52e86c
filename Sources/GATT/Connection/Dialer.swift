import OtaflashATT
import Synchronization

/// How to reach a device: returns a fresh link each time. Decorators add who is told of what goes
/// on, `tracing` and `observing`, and how long that may take, `answering`.
public struct Dialer: Sendable {
  let dial: @Sendable (DialRequest) async throws(ConnectFault) -> any Link
  /// Whether `dial` tells its steps; `connecting` is told before it where it does not.
  let reportsItsSteps: Bool
  private(set) var observe: @Sendable (ConnectionTransition) -> Void = { _ in }
  private(set) var transactionLimit = RequestSlot.transactionTimeout
  /// The device, where the dialer was made for one.
  private(set) var device: KnownDevice?

  /// It was made for a device, or finds one by a scan.
  var knowsItsDevice: Bool { device != nil || scans }
  private var scans = false

  /// A dialer with several steps. It reports `.scanStarted` or `.connectStarted` before it waits
  /// for anything, and `.deviceFound` and `.connectStarted` when it has found the device.
  public init(
    reporting dial:
      @escaping @Sendable (@Sendable (ConnectionInput) -> Void) async throws(ConnectFault)
      -> any Link
  ) {
    self.init(reportsItsSteps: true) { (request) async throws(ConnectFault) -> any Link in
      try await dial(request.report)
    }
  }

  /// A dialer with one door, such as a socket: whatever answers behind it is the device, its boot
  /// loader too.
  public init(_ dial: @escaping @Sendable () async throws(ConnectFault) -> any Link) {
    self.init(reportsItsSteps: false) { (_) async throws(ConnectFault) -> any Link in
      try await dial()
    }
  }

  /// A dialer that can follow a device whose bootloader has another address.
  public init(
    at dial: @escaping @Sendable (DeviceLocation) async throws(ConnectFault) -> any Link
  ) {
    self.init(reportsItsSteps: false) { (request) async throws(ConnectFault) -> any Link in
      try await dial(request.whereabouts)
    }
  }

  /// As `init(_:)`, for a closure with errors of any type, such as one that connects by a central
  /// without naming the type of its errors. Faults of links, scans and connections keep their
  /// meaning; any other error becomes `.adapterUnavailable` with the error's description.
  @_disfavoredOverload
  public init(_ dial: @escaping @Sendable () async throws -> any Link) {
    self.init { () async throws(ConnectFault) -> any Link in
      do { return try await dial() } catch { throw ConnectFault(any: error) }
    }
  }

  /// As `init(at:)`, for a closure with errors of any type (`init(_:)`).
  @_disfavoredOverload
  public init(at dial: @escaping @Sendable (DeviceLocation) async throws -> any Link) {
    self.init(at: { (place) async throws(ConnectFault) -> any Link in
      do { return try await dial(place) } catch { throw ConnectFault(any: error) }
    })
  }

  /// - Parameter scans: `dial` tells the request's pin which device it has found.
  init(
    reportsItsSteps: Bool, scans: Bool = false,
    dial: @escaping @Sendable (DialRequest) async throws(ConnectFault) -> any Link
  ) {
    self.reportsItsSteps = reportsItsSteps
    self.scans = scans
    self.dial = dial
  }

  /// The same, for a device that is known by `id`.
  package func reaching(_ id: Advertisement.ID) -> Dialer {
    var named = self
    named.device = KnownDevice(id: id)
    return named
  }

  /// The same, with another way to a link.
  func with(
    dial: @escaping @Sendable (DialRequest) async throws(ConnectFault) -> any Link
  ) -> Dialer {
    var other = Dialer(reportsItsSteps: reportsItsSteps, scans: scans, dial: dial)
    other.observe = observe
    other.transactionLimit = transactionLimit
    other.device = device
    return other
  }

  /// The same, with every PDU of its links told to `trace` (`TracingLink`).
  public func tracing(
    on clock: any LinkClock, _ trace: @escaping @Sendable (TracingLink.Crossing) -> Void
  ) -> Dialer {
    wrapping { TracingLink($0, clock: clock, trace: trace) }
  }

  /// The same, with each of its links inside another one.
  func wrapping(_ wrap: @escaping @Sendable (any Link) -> any Link) -> Dialer {
    with { [dial] (request) async throws(ConnectFault) -> any Link in
      wrap(try await dial(request))
    }
  }

  /// The same, with connections that end when a request is not answered within `limit`: the 30 s of
  /// the specification (Core 5.4, Vol 3, Part F, 3.3.3), or less to test and to diagnose.
  ///
  /// - Parameter limit: more than 0, up to 30 s.
  public func answering(within limit: Duration) -> Dialer {
    precondition(
      limit > .zero && limit <= RequestSlot.transactionTimeout,
      "a request is given up after 30 s at the latest, not after \(limit)")
    var limited = self
    limited.transactionLimit = limit
    return limited
  }

  /// The same, with every step of a connection made by it told to `observe`, which must return
  /// soon.
  public func observing(
    _ observe: @escaping @Sendable (ConnectionTransition) -> Void
  ) -> Dialer {
    let former = self.observe
    var observed = self
    observed.observe = { transition in
      former(transition)
      observe(transition)
    }
    return observed
  }
}

extension ConnectFault {
  /// The failure of a connection behind an error of any type.
  fileprivate init(any error: any Error) {
    self =
      switch error {
      case let fault as ConnectFault: fault
      case let fault as ScanFault: ConnectFault(fault)
      case let loss as LinkLoss: loss == .cancelled ? .cancelled : .lostWhileConnecting(loss)
      case is CancellationError: .cancelled
      default:
        .adapterUnavailable(cause: "The connection failed: \(error).", remedy: .tryAgain)
      }
  }
}

/// What a peripheral asks of its dialer.
struct DialRequest: Sendable {
  let whereabouts: DeviceLocation
  /// Which device it was the first time.
  let pin: DevicePin
  let report: @Sendable (ConnectionInput) -> Void
}

/// The device that a peripheral was found to be: after a loss it is looked for again, and no other
/// of its kind is taken for it.
final class DevicePin: Sendable {
  private let found = Mutex<Advertisement?>(nil)
  private let connected = Mutex<KnownDevice?>(nil)

  var device: Advertisement? { found.withLock { $0 } }
  /// The device that was connected to last at its own address, whether or not it is pinned.
  var heard: KnownDevice? { connected.withLock { $0 } }

  /// Pins the device, which may have drawn a new address since it was pinned first.
  func set(_ device: Advertisement) { found.withLock { $0 = device } }

  func connected(to device: Advertisement) {
    connected.withLock { $0 = KnownDevice(id: device.id, name: device.name) }
  }
}
