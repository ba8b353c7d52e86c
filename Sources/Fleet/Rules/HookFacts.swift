/// The environment variables of a hook, with facts of the run and of a device.
package struct HookFacts: Sendable {
  /// A prefix that no option uses: otaflash reads `OTAFLASH_X_Y` as its option `--x-y`, and a hook
  /// may call otaflash.
  private static let prefix = "OTAFLASH_HOOK_"

  package private(set) var environment: [String: String] = [:]

  /// Sets a variable; `nil` = the variable does not change.
  package mutating func set(_ name: String, _ value: String?) {
    if let value { environment[Self.prefix + name] = value }
  }

  /// Creates the variables from the order of a job.
  package init(_ order: WorkOrder) { environment = order.hookFacts }

  package init(_ campaign: Campaign, run: FleetRun, wave: Int) {
    set("RUN", run.beginning?.id)
    set("CAMPAIGN", campaign.name)
    set("WAVE", run.waves[wave].name)
  }

  /// Creates the facts of an attempt on a device.
  init(of progress: DeviceProgress, attempt: Int, _ campaign: Campaign, _ run: FleetRun) {
    self.init(campaign, run: run, wave: progress.wave)
    let device = progress.device
    set("DEVICE", device.id)
    set("DEVICE_NAME", device.name)
    set("BOARD", device.board)
    set("SITE", device.site)
    set("TAGS", device.tags?.joined(separator: " "))
    set("ATTEMPT", "\(attempt)")
    set("IMAGE", device.board.flatMap { campaign.images[$0] } ?? campaign.images[nil])
    set("IMAGE_DIGEST", device.image)
    set("IMAGE_SHA256", run.beginning?.images?.first { $0.digest == device.image }?.sha256)
  }
}
