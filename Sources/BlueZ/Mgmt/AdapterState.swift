import OtaflashATT
import OtaflashGATT

/// An adapter's current state, and every change. Needs no capability. The sequence ends only with
/// an error.
public struct AdapterStates: AsyncSequence, AdapterMonitor, Sendable {
  public typealias Element = AdapterState
  public typealias Failure = ScanFault

  private let adapter: UInt16
  private let open: @Sendable () throws(MgmtFault) -> MgmtSession
  private let switches: @Sendable () -> [RFKillSwitch]?

  /// - Parameter adapter: the adapter's number; `hci0` is 0.
  public init(adapter: UInt16 = 0) {
    self.init(
      adapter: adapter, open: { () throws(MgmtFault) in try MgmtSession() },
      switches: { RFKillSwitch.all() })
  }

  init(
    adapter: UInt16, open: @escaping @Sendable () throws(MgmtFault) -> MgmtSession,
    switches: @escaping @Sendable () -> [RFKillSwitch]?
  ) {
    self.adapter = adapter
    self.open = open
    self.switches = switches
  }

  public func makeAsyncIterator() -> Iterator { Iterator(states: self) }

  public func adapterStates() -> AdapterStates { self }

  /// An iterator that queries the kernel, and then waits for the events of the kernel.
  public struct Iterator: AsyncIteratorProtocol {
    private let states: AdapterStates
    private var session: MgmtSession?
    private var last: AdapterState?

    fileprivate init(states: AdapterStates) { self.states = states }

    public mutating func next() async throws(ScanFault) -> AdapterState? {
      try await next(isolation: nil)
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ScanFault) -> AdapterState? {
      do throws(MgmtFault) {
        return try await change(isolation: actor)
      } catch {
        throw ScanFault(error)
      }
    }

    private mutating func change(
      isolation actor: isolated (any Actor)?
    ) async throws(MgmtFault) -> AdapterState? {
      let session: MgmtSession
      if let open = self.session { session = open } else { session = try states.open() }
      self.session = session
      if last == nil {
        last = try await states.current(session)
        return last
      }
      while let packet = try await session.next(until: nil) {
        guard packet.index == states.adapter else { continue }
        let state: AdapterState
        switch packet.event {
        case .indexRemoved: state = .removed
        case .indexAdded: state = try await states.current(session)
        case .newSettings(let settings): state = states.state(settings)
        default: continue
        }
        guard state != last else { continue }
        last = state
        return state
      }
      return nil
    }
  }

  private func current(_ session: MgmtSession) async throws(MgmtFault) -> AdapterState {
    do throws(MgmtFault) {
      let bytes = try await session.perform(.readControllerInformation, index: adapter)
      return state(try MgmtIndexList.information(bytes).current)
    } catch {
      if error == MgmtFault(.invalidIndex, opcode: 0) { return .removed }
      throw error
    }
  }

  private func state(_ settings: MgmtSettings) -> AdapterState {
    if settings.contains(.powered) { return .poweredOn }
    let blocked = switches()?.filter { $0.isSoftBlocked || $0.isHardBlocked } ?? []
    return blocked.isEmpty ? .poweredOff : .blocked(hard: blocked.contains(where: \.isHardBlocked))
  }
}
