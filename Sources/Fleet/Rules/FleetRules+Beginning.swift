extension CampaignPlan {
  /// The first events of a run: what was planned, frozen.
  ///
  /// - Parameters:
  ///   - id: of the run.
  ///   - digest: of the campaign and its images.
  ///   - digests: of the image files by their names in the campaign.
  package func beginning(
    id: String, digest: String, imageDigests digests: [String: String]
  ) -> [FleetEvent] {
    let began = FleetEvent.runBegan(
      RunBeginning(
        id: id, campaign: campaign.name, digest: digest, devices: deviceCount, waves: waves.count))
    return [began]
      + waves.enumerated().map { index, planned in
        .wavePlanned(
          wave: index, name: planned.wave.name,
          devices: planned.devices.map { device in
            let file = campaign.image(for: device) ?? ""
            return RunDevice(
              id: device.id, name: device.name, board: device.board, site: device.site,
              tags: device.tags.isEmpty ? nil : device.tags.sorted(), image: digests[file] ?? "")
          })
      }
  }
}
