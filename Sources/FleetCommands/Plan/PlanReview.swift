#if Fleet
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetFiles
import OtaflashFleetHost
import OtaflashFleetStore

/// A campaign as a plan that can be saved and compared.
struct PlanReview: Sendable {
  /// The maximum size of a plan file, in bytes: enough for 100,000 devices with long names.
  private static let sizeLimit = 64 << 20

  let saved: SavedPlan
  private let campaign: LoadedCampaign

  init(_ campaign: LoadedCampaign, now: WallClockTime) {
    self.campaign = campaign
    saved = SavedPlan(
      campaign.plan, text: campaign.digest, settings: campaign.settings(now: now),
      images: campaign.images.map { file, image in
        SavedPlan.Image(file: file, sha256: image.blob.fileDigest, identity: image.blob.digest)
      })
  }

  // MARK: Files

  func save(to path: String, in session: Session) throws(CommandFault) {
    let file = Self.file(path)
    let text: [UInt8]
    do throws(SavedPlanFault) { text = try saved.json() } catch {
      throw .fleet(.failed(words: error.words))
    }
    do throws(OutputFileFault) { try file.write(text, avoiding: session.inputs) } catch {
      throw .outputFile(file, error)
    }
  }

  static func file(_ path: String) -> OutputFile {
    OutputFile(path: path, kind: .plan, option: "--save")
  }

  /// Compares the campaign with a saved plan.
  ///
  /// - Throws: `planDiffers` if the campaign differs from the reviewed plan.
  func compare(withPlanAt path: String) throws(CommandFault) {
    let bytes: [UInt8]
    do throws(FileFault) {
      bytes = try InputFile(path: path, limit: Self.sizeLimit).read()
    } catch {
      throw .fleet(.file(error))
    }
    let reviewed: SavedPlan
    do throws(SavedPlanFault) { reviewed = try SavedPlan(json: bytes) } catch {
      throw .fleet(.plan(path: path, words: error.words))
    }
    let differences = reviewed.differences(from: saved)
    guard differences.isEmpty else {
      throw .fleet(
        .planDiffers(plan: path, campaign: campaign.path, differences: differences))
    }
  }

  // MARK: The last run

  /// Returns the name of the last run of the campaign, and the differences from this run, as
  /// clauses; `nil` = there is no earlier run.
  func changesSinceLastRun(
    in store: FleetStore
  ) async throws(CommandFault) -> (run: String, words: [String])? {
    let runs: [KeptRun]
    do throws(StorageFault) { runs = try store.runs() } catch { throw .fleet(.store(error)) }
    guard let last = runs.first(where: { $0.campaign == saved.campaign }) else { return nil }
    let run = FleetRun(try await store.history(of: last.id))
    return (last.id, changes(since: run))
  }

  private func changes(since run: FleetRun) -> [String] {
    let planned = campaign.plan.waves.flatMap { wave in
      wave.devices.map { ($0.id, (wave: wave.wave.name, device: $0)) }
    }
    let now = Dictionary(planned) { first, _ in first }
    let before = Dictionary(run.devices.map { ($0.device.id, $0) }) { first, _ in first }
    var words: [String] = []
    func note(_ devices: [FleetDevice.ID], _ what: String) {
      guard !devices.isEmpty else { return }
      let named = devices.sorted().prefix(3).joined(separator: ", ")
      let rest = devices.count > 3 ? " and \(Text.grouped(devices.count - 3)) more" : ""
      words.append("\(Text.counted(devices.count, "device")) \(what): \(named)\(rest)")
    }
    note(now.keys.filter { before[$0] == nil }, "added")
    note(before.keys.filter { now[$0] == nil }, "removed")
    note(
      now.compactMap { id, planned in
        before[id].map { run.waves[$0.wave].name != planned.wave } ?? false ? id : nil
      }, "in another wave")
    note(
      now.compactMap { id, planned in
        let file = campaign.plan.campaign.image(for: planned.device) ?? ""
        let digest = campaign.images[file]?.blob.digest
        return before[id].map { $0.device.image != digest } ?? false ? id : nil
      }, "with another image")
    if let former = run.beginning?.settings {
      words += RunSetting.differences(from: former, to: saved.settings, origin: "run")
    } else if let former = run.beginning?.waveRules,
      former != campaign.plan.waves.map({ WaveRule($0.wave) })
    {
      words.append("different wave rules")
    }
    return words + fileChanges(since: run.beginning?.files ?? [])
  }

  /// Returns a clause for each key and hook program whose content changed under the same name. The
  /// campaign file and its device table are compared by their values.
  private func fileChanges(since former: [RunFile]) -> [String] {
    campaign.files.compactMap { file in
      guard file.role == .key || file.role == .hook, let digest = file.sha256,
        let before = former.first(where: { $0.role == file.role && $0.name == file.name })?.sha256,
        before != digest
      else { return nil }
      return "\(file.role.rawValue) \(file.name) has SHA-256 \(digest) (run: \(before))"
    }
  }
}
#endif
