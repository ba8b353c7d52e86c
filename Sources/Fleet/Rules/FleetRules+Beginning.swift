extension CampaignPlan {
  /// Returns the first events of a run, which freeze its plan.
  ///
  /// - Parameters:
  ///   - id: the id of the run.
  ///   - digest: the digest of the campaign file, its device table and the devices of its aliases.
  ///   - digests: the digests of the image files by their names in the campaign.
  ///   - person: the operator who starts the run, such as `anna@line-3`.
  ///   - images: names and versions of the images.
  ///   - file: the absolute path of the campaign file.
  ///   - files: the campaign file and the other files of the campaign, except images.
  ///   - settings: the options of the campaign as text.
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
