import OtaflashFleet

extension DeviceReport {
  /// Creates the report of one device from the events that concern it: the run's first event, the
  /// events that name the device, and the run's end.
  ///
  /// - Returns: `nil` if the device was not part of the run.
  package init?(of id: FleetDevice.ID, in events: [RecordedEvent]) {
    var run = FleetRun()
    for recorded in events {
      switch recorded.event {
      case .wavePlanned(_, let name, let devices):
        // The report omits the other devices of the wave and the other waves.
        let planned = FleetEvent.wavePlanned(
          wave: run.waves.count, name: name, devices: devices.filter { $0.id == id })
        run.apply(planned, at: recorded.at)
      case .runBegan, .runEnded, .deviceHookEnded, .devicePublished, .deviceClaimed, .devicePlaced,
        .transferBegan, .deviceNotInRange, .outcomeReportedLate, .deviceActivating, .claimExpired,
        .attemptEnded, .deviceDeferred, .deviceSettled,
        .deviceRetried:
        run.apply(recorded.event, at: recorded.at)
      case .waveBegan, .waveHookBegan, .waveHookEnded, .waveSoaking, .waveJudged, .approvalAwaited,
        .waveApproved, .operatorActed, .runPaused, .runResumed, .runCancelled:
        break
      }
    }
    guard let device = run[id] else { return nil }
    self.init(device, hasEnded: run.hasEnded)
  }
}
