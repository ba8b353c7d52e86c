import OtaflashWire

/// The adapters of the host that are on and have Bluetooth LE enabled. Needs no capability.
package struct AdapterRoster: Sendable {
  private static let wanted: MgmtSettings = [.powered, .lowEnergy]

  private let open: @Sendable () throws(MgmtFault) -> MgmtSession

  package init() { self.init(open: { () throws(MgmtFault) in try MgmtSession() }) }

  init(open: @escaping @Sendable () throws(MgmtFault) -> MgmtSession) { self.open = open }

  /// Returns the numbers of these adapters in ascending order; `hci0` is 0.
  package func present() async throws(MgmtFault) -> [UInt16] {
    let session = try open()
    defer { session.close() }
    return try await present(session)
  }

  /// Passes the numbers of these adapters to `report`, immediately and after every change. The
  /// function ends only with an error, including `.cancelled`.
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
        // The adapter was removed after the list was read.
        guard error == MgmtFault(.invalidIndex, opcode: 0) else { throw error }
      }
    }
    return present
  }
}
