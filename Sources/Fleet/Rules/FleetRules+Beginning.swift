extension CampaignPlan {
  /// The first events of a run: what was planned, frozen.
  ///
  /// - Parameters:
  ///   - id: of the run.
  ///   - digest: of the campaign and its images.
  ///   - digests: of the image files by their names in the campaign.
  ///   - person: who begins it, such as `anna@line-3`.
  ///   - images: what people call them.
  ///   - file: the absolute path of the campaign's file.
  ///   - files: what the campaign consists of.
  ///   - settings: its options in words.
  package func beginning(
    id: String, digest: String, imageDigests digests: [String: String],
    startedBy person: String? = nil, images: [RunImage]? = nil, file: String? = nil,
    files: [RunFile]? = nil, settings: [RunSetting]? = nil
  ) -> [FleetEvent] {
    var beginning = RunBeginning(
      id: id, campaign: campaign.name, digest: digest, devices: deviceCount, waves: waves.count,
      startedBy: person, images: images, waveRules: waves.map { WaveRule($0.wave) })
    beginning.file = file
    beginning.files = files
    beginning.settings = settings
    let windows = campaign.windows
    if !windows.all.isEmpty { beginning.windows = windows }
    return [.runBegan(beginning)]
      + waves.enumerated().map { index, planned in
        .wavePlanned(
          wave: index, name: planned.wave.name,
          devices: planned.devices.map { device in
            let file = campaign.image(for: device) ?? ""
            return RunDevice(
              id: device.id, name: device.name, board: device.board, site: device.site,
              tags: device.tags.isEmpty ? nil : device.tags.sorted(), image: digests[file] ?? "",
              keyFile: device.keyFile, rssi: device.rssi)
          })
      }
  }
}
