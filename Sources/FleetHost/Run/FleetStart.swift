#if Fleet
import Glibc
import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetFiles
import OtaflashFleetStore

/// Finds the run to continue, or starts a new run.
package struct FleetStart: Sendable {
  private let store: FleetStore
  private let again: Bool
  private let person: String
  private let session: Session

  /// - Parameters:
  ///   - again: whether to abandon an open run, and to start another run in any case.
  ///   - person: the operator, such as `anna@line-3`.
  package init(store: FleetStore, again: Bool, person: String, session: Session) {
    self.store = store
    self.again = again
    self.person = person
    self.session = session
  }

  /// A run and its state.
  package struct Found: Sendable {
    package let kept: KeptRun
    package let run: FleetRun

    package var isOpen: Bool { if case .ended = run.control { false } else { true } }
  }

  private static let idDigits = 6

  /// Returns the newest run of a campaign with this name from the list of runs; `nil` if there is
  /// no run.
  package func newest(of campaign: String) throws(CommandFault) -> KeptRun? {
    try kept().first { $0.campaign == campaign }
  }

  /// Returns a run with the state after its recorded events; `nil` = there is no run.
  ///
  /// - Throws: a fault if the events were changed, because such a run is not continued. With
  ///   `--again`, such a run is left unchanged, and the result is `nil`.
  package func last(_ kept: KeptRun?) async throws(CommandFault) -> Found? {
    guard let kept else { return nil }
    do throws(CommandFault) {
      _ = try store.checkedChain(of: kept.id)
      return Found(kept: kept, run: FleetRun(try await store.history(of: kept.id)))
    } catch {
      guard again, case .campaign(let fault as FleetFault) = error, let words = fault.damage else {
        throw error
      }
      session.console.note("note: run \(kept.id) is left unchanged: \(words)")
      return nil
    }
  }

  /// A run to work on.
  package struct Started: Sendable {
    package let run: KeptRun
    /// The time of the last record.
    package let last: WallClockTime
    /// The images by digest.
    package let packages: [String: FirmwarePackage]
    /// Whether the run was started before.
    package let goesOn: Bool
  }

  /// Returns the run to work on.
  ///
  /// - Parameter last: the last run of the campaign.
  package func run(
    for campaign: LoadedCampaign, after last: Found?
  ) async throws(CommandFault) -> Started {
    if let last, last.isOpen {
      if !again {
        return Started(
          run: last.kept, last: last.run.lastAt, packages: try await packages(of: last, campaign),
          goesOn: true)
      }
      try await giveUp(last)
    }
    return try await begin(campaign)
  }

  /// Returns whether the last run has ended, and the text and images of the campaign have not
  /// changed since the start of this run.
  package static func isDone(_ last: Found, _ campaign: LoadedCampaign) -> Bool {
    let digests = Set(campaign.images.values.map(\.blob.digest))
    return !last.isOpen && last.kept.digest == campaign.digest
      && Set(last.run.devices.map(\.device.image)).isSubset(of: digests)
  }

  // MARK: Continuing

  /// Returns the images that are stored with the run, even if the files have changed.
  private func packages(
    of last: Found, _ campaign: LoadedCampaign
  ) async throws(CommandFault) -> [String: FirmwarePackage] {
    var packages: [String: FirmwarePackage] = [:]
    for image in campaign.images.values { packages[image.blob.digest] = image.package }
    for digest in Set(last.run.devices.map(\.device.image)) where packages[digest] == nil {
      let name = last.run.beginning?.images?.first { $0.digest == digest }?.name ?? "an image"
      session.console.note(
        "note: \(name) has changed; run \(last.kept.id) continues with the stored image")
      packages[digest] = try await kept(digest, signedBy: campaign.key)
    }
    return packages
  }

  private func kept(
    _ digest: String, signedBy key: VerificationKey?
  ) async throws(CommandFault) -> FirmwarePackage {
    let bytes: [UInt8]
    do throws(StorageFault) { bytes = try store.blob(digest) } catch {
      throw .fleet(.store(error))
    }
    let blob: ImageBlob
    do throws(ImageBlobFault) {
      blob = try ImageBlob(bytes: bytes)
      guard blob.digest == digest else { throw ImageBlobFault() }
    } catch {
      throw .fleet(.store(StorageFault(.unsound, "\(error)")))
    }
    return try CampaignImage(blob, signedBy: key).package
  }

  private func giveUp(_ last: Found) async throws(CommandFault) {
    session.console.note("run \(last.kept.id) is abandoned")
    do throws(StorageFault) {
      try await store.ledger(of: last.kept.id).append(
        [
          .operatorActed(
            OperatorAction(.cancel, by: person, reason: "'fleet run --again' started another run")),
          .runCancelled, .runEnded(.cancelled),
        ], at: last.run.time(.now))
    } catch {
      throw .fleet(.store(error))
    }
  }

  // MARK: Starting

  private func begin(_ campaign: LoadedCampaign) async throws(CommandFault) -> Started {
    let id = try freshID()
    let images = campaign.images.values.sorted { $0.blob.digest < $1.blob.digest }
    do throws(StorageFault) {
      for image in images { try store.keep(blob: image.blob.bytes, digest: image.blob.digest) }
    } catch {
      throw .fleet(.store(error))
    }
    let events = campaign.plan.beginning(
      id: id, digest: campaign.digest,
      imageDigests: campaign.images.mapValues(\.blob.digest), startedBy: person,
      images: images.map(\.summary), file: Self.absolute(campaign.path), files: campaign.files,
      settings: campaign.settings(now: .now))
    do throws(StorageFault) {
      try await store.ledger(of: id).append(events, at: .now)
    } catch {
      throw .fleet(.store(error))
    }
    return Started(
      run: try kept(named: id), last: .now,
      packages: Dictionary(images.map { ($0.blob.digest, $0.package) }) { first, _ in first },
      goesOn: false)
  }

  private func kept(named id: String) throws(CommandFault) -> KeptRun {
    do throws(RunSearchFault) { return try store.run(named: id) } catch {
      throw .fleet(.search(error))
    }
  }

  private func kept() throws(CommandFault) -> [KeptRun] {
    do throws(StorageFault) { return try store.runs() } catch { throw .fleet(.store(error)) }
  }

  /// Returns an unused name for a run, which is short enough to type.
  private func freshID() throws(CommandFault) -> String {
    let taken = Set(try kept().map(\.id))
    while true {
      let number = UInt32.random(in: 0..<(1 << (4 * Self.idDigits)))
      let id = Text.padded(String(number, radix: 16), Self.idDigits)
      if !taken.contains(id) { return id }
    }
  }

  private static func absolute(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(cString: real)
  }
}

extension CampaignImage {
  fileprivate var summary: RunImage {
    RunImage(
      digest: blob.digest, name: package.name, version: package.version?.description,
      size: package.size, sha256: blob.fileDigest)
  }
}

extension FleetFault {
  /// Returns the change that another program made to the store, as text; `nil` for other faults.
  fileprivate var damage: String? {
    switch self {
    case .brokenChain(_, let words): words
    case .store(let fault) where fault.kind == .unsound: fault.words
    default: nil
    }
  }
}
#endif
