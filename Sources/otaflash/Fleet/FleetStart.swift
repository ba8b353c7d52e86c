#if Fleet
import Glibc
import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetFiles
import OtaflashFleetStore

/// Finds the run that a campaign goes on with, or begins one.
struct FleetStart: Sendable {
  let store: FleetStore
  /// Gives an open run up, and begins another in any case.
  let again: Bool
  /// Who starts it, such as `anna@line-3`.
  let person: String
  let session: Session

  /// A run, and what it stands at.
  struct Found: Sendable {
    let kept: KeptRun
    let run: FleetRun

    var isOpen: Bool { if case .ended = run.control { false } else { true } }
  }

  private static let idDigits = 6

  /// The newest run of a campaign with this name, as the list of runs shows it; `nil` if there is
  /// none.
  func newest(of campaign: String) throws(CommandFault) -> KeptRun? {
    try kept().first { $0.campaign == campaign }
  }

  /// A run with what is recorded of it.
  ///
  /// - Throws: what is wrong with its events: a run is not continued on events that were changed.
  ///   With `--again` such a run is left as it is.
  func last(_ kept: KeptRun?) async throws(CommandFault) -> Found? {
    guard let kept else { return nil }
    do throws(CommandFault) {
      _ = try store.checkedChain(of: kept.id)
      return Found(kept: kept, run: FleetRun(try await store.history(of: kept.id)))
    } catch {
      guard again, case .campaign(let fault as FleetFault) = error, let words = fault.damage else {
        throw error
      }
      session.console.note("note: run \(kept.id) is left as it is: \(words)")
      return nil
    }
  }

  /// A run to work on.
  struct Started: Sendable {
    let run: KeptRun
    /// When something was last recorded of it.
    let last: WallClockTime
    /// By digest.
    let packages: [String: FirmwarePackage]
    /// It was begun before.
    let goesOn: Bool
  }

  /// The run to work on.
  ///
  /// - Parameter last: the last run of the campaign.
  func run(
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

  /// Whether a campaign whose last run has ended has nothing else to say: the same text and images.
  static func isDone(_ last: Found, _ campaign: LoadedCampaign) -> Bool {
    let digests = Set(campaign.images.values.map(\.blob.digest))
    return !last.isOpen && last.kept.digest == campaign.digest
      && Set(last.run.devices.map(\.device.image)).isSubset(of: digests)
  }

  // MARK: Going on

  /// A file that has changed since is not asked: the run has its bytes.
  private func packages(
    of last: Found, _ campaign: LoadedCampaign
  ) async throws(CommandFault) -> [String: FirmwarePackage] {
    var packages: [String: FirmwarePackage] = [:]
    for image in campaign.images.values { packages[image.blob.digest] = image.package }
    for digest in Set(last.run.devices.map(\.device.image)) where packages[digest] == nil {
      let name = last.run.beginning?.images?.first { $0.digest == digest }?.name ?? "an image"
      session.console.note(
        "note: \(name) has changed; run \(last.kept.id) goes on with the one that it began with")
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
    session.console.note("run \(last.kept.id) is given up")
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

  // MARK: Beginning

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

  /// Short enough to be typed.
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
  /// How the store was changed by another hand; `nil` for other faults.
  fileprivate var damage: String? {
    switch self {
    case .brokenChain(_, let words): words
    case .store(let fault) where fault.kind == .unsound: fault.words
    default: nil
    }
  }
}
#endif
