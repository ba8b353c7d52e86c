import OtaflashDelta
import OtaflashFirmware
import OtaflashGATT

/// The steps of a session with patches that do not depend on the protocol: the search for the base
/// and the creation of the content. Both run on `BaseFinder.computation`.
extension UpdateContext {
  /// The time after which the creation of a patch is reported.
  private static var silentCreation: Duration { .seconds(1) }

  /// Checks that a required patch is possible, as far as this is known before the patch is created.
  ///
  /// - Parameter decision: the decision, which does not contain the bytes of the base.
  /// - Throws: `.noPatch` if no patch is possible; `.gatt(_, .cancelled)`.
  func checkRequiredPatch(_ decision: DeliveryDecision) async throws(UpdateFault) {
    if let obstacle = try await obstacle(to: decision) { throw .noPatch(obstacle) }
  }

  /// Returns the reason why no patch is possible, if the reason is known before the patch is
  /// created; otherwise `nil`.
  ///
  /// - Parameter decision: the decision, which does not contain the bytes of the base.
  func obstacle(
    to decision: DeliveryDecision
  ) async throws(UpdateFault) -> PatchObstacle? {
    var known: DeliveryDecision? = decision
    // A prebuilt patch needs no base on the host.
    if decision.given == nil, let bases = options.patches.bases {
      known = await bases.computation.run { decision.searching(bases) }
    }
    guard let known, !Task.isCancelled else { throw .gatt(.prepare, .cancelled) }
    return known.obstacle
  }

  /// Searches for the base and creates the content, unless the content already exists.
  ///
  /// - Parameter decision: the decision, which does not contain the bytes of the base.
  func decide(
    on image: FirmwareImage, _ decision: DeliveryDecision
  ) async throws(UpdateFault) -> DeliveryDecision.Decision {
    guard let abilities = decision.abilities, let bases = options.patches.bases else {
      return decision.decision(for: image.bytes)
    }
    let shelf = bases.made.shelf(
      for: PatchCache.Pair(
        image: ContentIdentity(size: image.bytes.count, crc32: image.crc32),
        base: decision.running, abilities: abilities))
    let made = await reportingCreation(
      on: bases.computation
    ) { () async -> DeliveryDecision.Decision? in
      // An inline computation does not enter the gate, because no other task runs during it.
      let waits = bases.computation.isElsewhere
      if waits, await shelf.gate.enter() != .entered { return nil }
      defer { if waits { shelf.gate.leave() } }
      return await bases.computation.run {
        decision.searching(bases).decision(for: image.bytes) { planner in
          planner.remembering = { shelf.stream($0, $1) }
          planner.isCancelled = { Task.isCancelled }
        }
      }
    }
    guard let made, !Task.isCancelled else { throw .gatt(.prepare, .cancelled) }
    return made
  }

  /// Reports the creation if it takes longer than `silentCreation`.
  private func reportingCreation<Value: Sendable>(
    on computation: Computation, _ create: () async -> Value
  ) async -> Value {
    // Inline creation takes no time in a simulation.
    guard computation.isElsewhere else { return await create() }
    return await withTaskGroup(of: Void.self) { group in
      group.addTask {
        if await clock.pause(for: Self.silentCreation) { observe(.creatingContent) }
      }
      let value = await create()
      group.cancelAll()
      return value
    }
  }
}

extension DeliveryDecision {
  /// Returns the decision with the bytes of the running image, if they are found. The search may
  /// take time.
  fileprivate func searching(_ bases: BaseFinder) -> DeliveryDecision {
    var decision = self
    decision.base = running.flatMap { bases.bytes(of: $0) }
    return decision
  }
}
