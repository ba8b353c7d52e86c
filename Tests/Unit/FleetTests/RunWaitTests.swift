import OtaflashFleet
import Testing

/// Tests of the reasons why a run waits, and of the ends of the waits.
@Suite struct RunWaitTests {
  /// Returns the given hour of 1970-01-01, a Thursday, in UTC.
  private static func hour(_ hour: Int) -> WallClockTime {
    WallClockTime(milliseconds: Int64(hour) * 3_600_000)
  }

  /// Returns a window from 02:00 to 04:00 in a time zone that is `hours` ahead of UTC.
  private static func night(_ hours: Int) -> TransferWindow {
    TransferWindow(opens: 120, closes: 240, zone: ZoneOffsets(minutes: hours * 60))
  }

  private static func waits(_ play: RulesTests.Play) -> [RunWait] { play.run.waits(at: play.now) }

  @Test func aClosedWindowIsNamedWithTheTimeAtWhichItOpens() throws {
    var campaign = RulesTests.campaign(3)
    campaign.window = Self.night(1)
    var play = try RulesTests.Play(campaign, at: Self.hour(12))
    play.settle()
    let wait = RunWait(
      .window(site: nil, zone: ZoneOffsets(minutes: 60)), until: Self.hour(25), devices: 3)
    #expect(Self.waits(play) == [wait])
    // The wall clock determines whether a window is open, regardless of the time of the run.
    #expect(play.run.waits(at: Self.hour(25), wall: Self.hour(12)) == [wait])
    play.now = Self.hour(25)
    #expect(Self.waits(play).isEmpty, "they may start now")
    play.settle()
    #expect(Self.waits(play) == [RunWait(.noFreePlace, devices: 3)])
    play.hear(.claimed(worker: "w"), of: "d0")
    #expect(Self.waits(play).isEmpty, "one device is updated")
  }

  @Test func sitesWaitForTheirOwnWindowsTheSoonestFirst() throws {
    var campaign = RulesTests.campaign(0)
    campaign.devices = [
      FleetDevice(id: "b", site: "berlin"), FleetDevice(id: "t", site: "tokyo"),
      FleetDevice(id: "s", site: "tokyo"), FleetDevice(id: "n"),
    ]
    campaign.window = Self.night(0)
    campaign.siteWindows = ["tokyo": Self.night(9), "berlin": Self.night(1)]
    var play = try RulesTests.Play(campaign, at: Self.hour(12))
    play.settle()
    #expect(Self.waits(play).map(\.until) == [17, 25, 26].map(Self.hour))
    #expect(Self.waits(play).map(\.devices) == [2, 1, 1])
    // The devices in Tokyo are updated; the others still wait.
    play.now = Self.hour(17)
    play.settle()
    play.hear(.claimed(worker: "w"), of: "t")
    #expect(Self.waits(play).map(\.until) == [25, 26].map(Self.hour))
  }

  @Test func aWindowThatDoesNotOpenAgainHasNoTime() throws {
    var campaign = RulesTests.campaign(2)
    campaign.window = Self.night(0)
    campaign.window?.notAfter = Self.hour(27)
    var play = try RulesTests.Play(campaign, at: Self.hour(12))
    play.settle()
    play.now = Self.hour(28)
    #expect(Self.waits(play) == [RunWait(.window(site: nil, zone: .utc), devices: 2)])
  }

  @Test func theNextAttemptIsNamedWithItsTime() throws {
    var play = try RulesTests.Play(RulesTests.campaign(2))
    play.settle()
    for device in ["d0", "d1"] { play.attempt(device, 1, .failed(RulesTests.lost)) }
    play.settle()
    let next = try #require(play.run["d0"]).notBefore
    #expect(Self.waits(play) == [RunWait(.retry, until: next, devices: 2)])
  }

  @Test func aSoakAnApprovalAndAPauseAreNamed() throws {
    let waves = [
      Wave("canary", .count(1), soak: .seconds(600), needsApproval: true), Wave("all", .rest),
    ]
    var play = try RulesTests.Play(RulesTests.campaign(3, waves))
    play.settle()
    play.attempt("d0", 1, .updated(RulesTests.figures))
    play.settle()
    let end = play.now.advanced(by: .seconds(600))
    #expect(Self.waits(play) == [RunWait(.soak(wave: 0), until: end, devices: 2)])
    play.now = end
    play.settle()
    #expect(Self.waits(play) == [RunWait(.approval(wave: 0), devices: 2)])
    #expect(FleetRules.kind(of: .resume, in: play.run) == .approve)
    try play.order(.pause)
    #expect(Self.waits(play) == [RunWait(.paused, devices: 2)])
    try play.order(.resume)
    play.settle()
    #expect(FleetRules.kind(of: .resume, in: play.run) == .resume)
    try play.order(.cancel)
    #expect(Self.waits(play).isEmpty)
  }

  @Test func aMissingAdapterIsNamed() throws {
    var play = try RulesTests.Play(RulesTests.campaign(2))
    play.settle()
    play.run.apply(.runPaused(because: .noAdapter), at: play.now)
    #expect(Self.waits(play) == [RunWait(.noAdapter, devices: 2)])
  }

  @Test func aRunningHookIsNamed() throws {
    var campaign = RulesTests.campaign(2)
    campaign.hooks.commands[.beforeWave] = .shell("true")
    var play = try RulesTests.Play(campaign)
    play.settle()
    #expect(Self.waits(play) == [RunWait(.hook(.beforeWave), devices: 2)])
  }

  /// A run that an earlier version started has no windows in its events.
  @Test func windowsCanBeSpecified() throws {
    var play = try RulesTests.Play(RulesTests.campaign(2), at: Self.hour(12))
    play.run.apply(.waveBegan(wave: 0), at: play.now)
    #expect(Self.waits(play).isEmpty)
    let windows = TransferWindows(general: Self.night(0))
    #expect(play.run.waits(at: play.now, windows: windows).map(\.until) == [Self.hour(26)])
  }
}
