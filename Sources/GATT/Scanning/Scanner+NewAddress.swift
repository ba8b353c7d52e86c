import OtaflashATT
import Synchronization

/// A search for a device that may have used a new random address since its last start.
extension Scanner {
  /// Searches for a device under its known address, and for any other device that passes `filter`.
  ///
  /// An advertisement from the known address ends the search immediately. A new address is accepted
  /// at the end of `window`, if exactly one device passes `filter`. Most devices advertise more
  /// than once in 4 s.
  ///
  /// - Throws: `.deviceNotFound` if no device matched; `.lostWhileConnecting` with the addresses if
  ///   several devices matched, because a later scan may find only one of them; the errors of the
  ///   scan.
  package func relocated(
    _ known: Advertisement.ID, orMatching filter: AdvertisementFilter,
    within window: Duration = .seconds(4), on clock: any LinkClock
  ) async throws(ConnectFault) -> Advertisement {
    let others = Mutex<[Advertisement.ID: Advertisement]>([:])
    let deadline = clock.now.advanced(by: window)
    do throws(ScanFault) {
      return try await withDeadline(deadline, on: clock, orThrow: .notFound(within: window)) {
        () async throws(ScanFault) -> Advertisement in
        // The name may be in a scan response, after the first report of its device.
        for try await device in advertisements(matching: AdvertisementFilter(), eachOnce: false) {
          if device.id.uppercased() == known.uppercased() { return device }
          guard filter.accepts(device) else { continue }
          others.withLock { others in
            if others.count < Self.collectedMaximum { others[device.id] = device }
          }
        }
        throw Task.isCancelled ? .cancelled : .failed(reason: "The scan ended unexpectedly.")
      }
    } catch .notFound {
      return try Self.only(others.withLock { Array($0.values) }, insteadOf: known)
    } catch {
      throw ConnectFault(error)
    }
  }

  private static func only(
    _ found: [Advertisement], insteadOf known: Advertisement.ID
  ) throws(ConnectFault) -> Advertisement {
    guard let device = found.first else {
      throw .deviceNotFound(
        cause: "Neither \(known) nor another matching device advertised.",
        remedy: .comeCloser)
    }
    guard found.count == 1 else {
      let ids = found.map(\.id).sorted().joined(separator: ", ")
      throw .lostWhileConnecting(
        .failed(
          errno: LinkLoss.severalMatch,
          reason: "\(known) does not advertise, and several devices match: \(ids). The device "
            + "cannot be identified, so no connection was made."))
    }
    return device
  }
}

extension LinkLoss {
  /// The errno for several matching devices (ENOTUNIQ).
  static let severalMatch: Int32 = 76
}
