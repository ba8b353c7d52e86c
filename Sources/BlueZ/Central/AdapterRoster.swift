import OtaflashWire

/// Which adapters of this machine are on and have Low Energy switched on: now, and at every change.
/// Needs no capability.
package struct AdapterRoster: Sendable {
  private static let wanted: MgmtSettings = [.powered, .lowEnergy]

  private let open: @Sendable () throws(MgmtFault) -> MgmtSession

  package init() { self.init(open: { () throws(MgmtFault) in try MgmtSession() }) }

  init(open: @escaping @Sendable () throws(MgmtFault) -> MgmtSession) { self.open = open }

  /// The numbers of those that are on, the lowest first; `hci0` is 0.
  package func present() async throws(MgmtFault) -> [UInt16] {
    let session = try open()
    defer { session.close() }
    return try await present(session)
  }

  /// Tells `report` of those that are on, at once and whenever there are others. Ends with an error
  /// only, `.cancelled` among them.
  package func watch(_ report: @Sendable ([UInt16]) -> Void) async throws(MgmtFault) {
    let session = try open()
    defer { session.close() }
    var last: [UInt16]?
    while true {
      let present = try await present(session)
      if present != last { report(present) }
      last = present
      try await waitForChange(session)
    }
  }

  private func waitForChange(_ session: MgmtSession) async throws(MgmtFault) {
    while let packet = try await session.next(until: nil) {
      switch packet.event {
      case .indexAdded, .indexRemoved, .newSettings: return
      default: continue
      }
    }
  }

  private func present(_ session: MgmtSession) async throws(MgmtFault) -> [UInt16] {
    var present: [UInt16] = []
    for index in try MgmtIndexList.decode(await session.perform(.readIndexList)) {
      do throws(MgmtFault) {
        let bytes = try await session.perform(.readControllerInformation, index: index)
        let information = try MgmtIndexList.information(bytes)
        if information.current.isSuperset(of: Self.wanted) { present.append(index) }
      } catch {
        // One that has gone since the list was made.
        guard error == MgmtFault(.invalidIndex, opcode: 0) else { throw error }
      }
    }
    return present
  }
}
