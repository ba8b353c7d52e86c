import OtaflashFleet
import Testing

/// Tests of the windows of sites.
@Suite struct SiteWindowTests {
  /// Returns the given hour of 1970-01-01, a Thursday, in UTC.
  private static func hour(_ hour: Int) -> WallClockTime {
    WallClockTime(milliseconds: Int64(hour) * 3_600_000)
  }

  /// Returns a window from 02:00 to 04:00 in a time zone that is `hours` ahead of UTC.
  private static func night(_ hours: Int) -> TransferWindow {
    TransferWindow(opens: 120, closes: 240, zone: ZoneOffsets(minutes: hours * 60))
  }

  private static func campaign() -> Campaign {
    var campaign = RulesTests.campaign(0)
    campaign.devices = [
      FleetDevice(id: "t", site: "tokyo"), FleetDevice(id: "b", site: "berlin"),
      FleetDevice(id: "n"),
    ]
    campaign.window = night(0)
    campaign.siteWindows = ["tokyo": night(9), "berlin": night(1)]
    return campaign
  }

  private static func published(_ events: [FleetEvent]) -> [String] {
    events.compactMap { if case .devicePublished(let id, _, _) = $0 { id } else { nil } }
  }

  @Test func eachSiteIsUpdatedInItsTimeZone() throws {
    // The windows in UTC: Tokyo 17:00 to 19:00, Berlin 01:00 to 03:00, the others 02:00 to 04:00.
    var play = try RulesTests.Play(Self.campaign(), at: Self.hour(12))
    #expect(Self.published(play.settle()) == [])
    #expect(play.rules.nextMoment(in: play.run, now: play.now) == Self.hour(17))
    play.now = Self.hour(17)
    #expect(Self.published(play.settle()) == ["t"])
    #expect(play.rules.nextMoment(in: play.run, now: play.now) == Self.hour(25))
    play.now = Self.hour(25)
    #expect(Self.published(play.settle()) == ["b"])
    play.now = Self.hour(26)
    #expect(Self.published(play.settle()) == ["n"])
  }

  @Test func aClosingWindowRecallsTheDevicesOfItsSite() throws {
    var campaign = Self.campaign()
    campaign.siteWindows["berlin"]?.atEnd = .breakOff
    var play = try RulesTests.Play(campaign, at: Self.hour(26))
    play.settle()
    for id in ["b", "n"] { play.hear(.claimed(worker: "w"), of: id) }
    #expect(play.rules.nextMoment(in: play.run, now: play.now) == Self.hour(41))
    #expect(play.rules.effectsOfClosing(in: play.run, wall: Self.hour(26)) == [])
    #expect(
      play.rules.effectsOfClosing(in: play.run, wall: Self.hour(27))
        == [.cancel([UpdateJob.ID(run: "r", device: "b", attempt: 1)])])
  }

  @Test func aSiteWithoutDevicesAndAWindowInThePastAreRefused() throws {
    var campaign = Self.campaign()
    campaign.siteWindows["paris"] = Self.night(1)
    #expect(throws: CampaignFault.unknownSite("paris")) {
      try CampaignPlan(campaign, now: Self.hour(1))
    }
    campaign = Self.campaign()
    campaign.siteWindows["berlin"]?.notAfter = Self.hour(0)
    #expect(throws: CampaignFault.windowInThePast(site: "berlin")) {
      try CampaignPlan(campaign, now: Self.hour(1))
    }
  }

  /// A run is not continued if remaining devices can never be updated. Devices with an outcome need
  /// no window.
  @Test func aResumedRunNeedsTheWindowsOfTheRemainingDevices() throws {
    var campaign = Self.campaign()
    campaign.siteWindows["berlin"]?.notAfter = Self.hour(0)
    func resume(_ unsettled: Set<FleetDevice.ID>) throws(CampaignFault) -> CampaignPlan {
      try CampaignPlan(
        campaign, resuming: [campaign.devices], unsettled: unsettled, now: Self.hour(1))
    }
    #expect(throws: CampaignFault.windowInThePast(site: "berlin")) { try resume(["t", "b"]) }
    #expect(try resume(["t", "n"]).deviceCount == 3)
    campaign.window?.notAfter = Self.hour(0)
    #expect(throws: CampaignFault.windowInThePast(site: nil)) { try resume(["n"]) }
    #expect(try resume(["t"]).deviceCount == 3)
  }
}
