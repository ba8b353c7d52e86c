import OtaflashATT
import Synchronization

/// A method of connecting to a device: creates a new link each time. Decorators add observers
/// (`tracing`, `observing`) and a time limit for responses (`answering`).
public struct Dialer: Sendable {
  let dial: @Sendable (DialRequest) async throws(ConnectFault) -> any Link
  /// Whether `dial` reports its steps. If not, `connecting` is reported before the call.
  let reportsItsSteps: Bool
  private(set) var observe: @Sendable (ConnectionTransition) -> Void = { _ in }
  private(set) var transactionLimit = RequestSlot.transactionTimeout
  /// The device, if the dialer was created for a specific device.
  private(set) var device: KnownDevice?

  /// Whether the dialer was created for a specific device or finds a device by a scan.
  var knowsItsDevice: Bool { device != nil || scans }
  private var scans = false

  /// Creates a dialer whose closure reports its steps.
  ///
  /// - Parameter dial: reports each step before it waits. With a scan, the steps are
  ///   `.scanStarted`, `.deviceFound` and `.connectStarted`; without a scan, only
  ///   `.connectStarted`.
  public init(
    reporting dial:
      @escaping @Sendable (@Sendable (ConnectionInput) -> Void) async throws(ConnectFault)
      -> any Link
  ) {
    self.init(reportsItsSteps: true) { (request) async throws(ConnectFault) -> any Link in
      try await dial(request.report)
    }
  }

  /// Creates a dialer with one endpoint, such as a socket: the process at this endpoint is the
  /// device, or its bootloader.
  public init(_ dial: @escaping @Sendable () async throws(ConnectFault) -> any Link) {
    self.init(reportsItsSteps: false) { (_) async throws(ConnectFault) -> any Link in
      try await dial()
    }
  }

  /// Creates a dialer that can follow a device whose bootloader uses another address.
  public init(
    at dial: @escaping @Sendable (DeviceLocation) async throws(ConnectFault) -> any Link
  ) {
    self.init(reportsItsSteps: false) { (request) async throws(ConnectFault) -> any Link in
      try await dial(request.whereabouts)
    }
  }

  /// Same as `init(_:)`, for a closure that throws any type of error, for example a closure that
  /// connects through a central whose error type is unknown. Faults of links and scans, and
  /// cancellations, become the corresponding `ConnectFault`; any other error becomes
  /// `.adapterUnavailable` with the error's description.
  @_disfavoredOverload
  public init(_ dial: @escaping @Sendable () async throws -> any Link) {
    self.init { () async throws(ConnectFault) -> any Link in
      do { return try await dial() } catch { throw ConnectFault(any: error) }
    }
  }

  /// Same as `init(at:)`, for a closure that throws any type of error (`init(_:)`).
  @_disfavoredOverload
  public init(at dial: @escaping @Sendable (DeviceLocation) async throws -> any Link) {
    self.init(at: { (place) async throws(ConnectFault) -> any Link in
      do { return try await dial(place) } catch { throw ConnectFault(any: error) }
    })
  }

  /// - Parameter scans: whether `dial` finds the device by a scan, and stores the device in the pin
  ///   of the request.
  init(
    reportsItsSteps: Bool, scans: Bool = false,
    dial: @escaping @Sendable (DialRequest) async throws(ConnectFault) -> any Link
  ) {
    self.reportsItsSteps = reportsItsSteps
    self.scans = scans
    self.dial = dial
  }

  /// Returns the same dialer for the device with this identifier.
  package func reaching(_ id: Advertisement.ID) -> Dialer {
    var named = self
    named.device = KnownDevice(id: id)
    return named
  }

  /// Returns the same dialer with another closure that creates its links.
  func with(
    dial: @escaping @Sendable (DialRequest) async throws(ConnectFault) -> any Link
  ) -> Dialer {
    var other = Dialer(reportsItsSteps: reportsItsSteps, scans: scans, dial: dial)
    other.observe = observe
    other.transactionLimit = transactionLimit
    other.device = device
    return other
  }

  /// Returns the same dialer; every PDU of its links is reported to `trace` (`TracingLink`).
  public func tracing(
    on clock: any LinkClock, _ trace: @escaping @Sendable (TracingLink.Crossing) -> Void
  ) -> Dialer {
    wrapping { TracingLink($0, clock: clock, trace: trace) }
  }

  /// Returns the same dialer; each of its links is wrapped by `wrap`.
  func wrapping(_ wrap: @escaping @Sendable (any Link) -> any Link) -> Dialer {
    with { [dial] (request) async throws(ConnectFault) -> any Link in
      wrap(try await dial(request))
    }
  }

  /// Returns the same dialer; a connection ends if the device does not respond to a request within
  /// `limit`. The specification requires 30 s (Core 5.4, Vol 3, Part F, 3.3.3); use a shorter limit
  /// only for tests and diagnosis.
  ///
  /// - Parameter limit: more than 0, up to 30 s.
  public func answering(within limit: Duration) -> Dialer {
    precondition(
      limit > .zero && limit <= RequestSlot.transactionTimeout,
      "the time limit of a request is 30 s at most, not \(limit)")
    var limited = self
    limited.transactionLimit = limit
    return limited
  }

  /// Returns the same dialer; every step of its connections is reported to `observe`, which must
  /// return quickly.
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
  /// Converts an error of any type to a fault of a connection attempt.
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

/// A peripheral's request to its dialer.
struct DialRequest: Sendable {
  let whereabouts: DeviceLocation
  /// The device that the dialer connects to.
  let pin: DevicePin
  let report: @Sendable (ConnectionInput) -> Void
}

/// The device of a peripheral. After a lost link the dialer searches only for this device, and not
/// for another device that passes the filter.
final class DevicePin: Sendable {
  private let found = Mutex<Advertisement?>(nil)
  private let connected = Mutex<KnownDevice?>(nil)

  var device: Advertisement? { found.withLock { $0 } }
  /// The device of the last connection at the device's own address, even if the device is not
  /// pinned.
  var connectedDevice: KnownDevice? { connected.withLock { $0 } }

  /// Pins the device, which may have changed its address since it was first pinned.
  func set(_ device: Advertisement) { found.withLock { $0 = device } }

  func connected(to device: Advertisement) {
    connected.withLock { $0 = KnownDevice(id: device.id, name: device.name) }
  }
}
