#if Fleet
import OtaflashFirmware
import OtaflashFleet
import Testing

@testable import OtaflashFleetFiles

@Suite struct CampaignFileTests {
  /// Noon of 2026-11-23, a Monday.
  static let now = WallClockTime(milliseconds: 1_795_435_200_000)
  static let minimal = "campaign: c\nimage: a.bin\ndevices: [sim:1, sim:2]\n"

  static func read(_ text: String) throws(CampaignFileFault) -> CampaignFile {
    try CampaignFile(bytes: Array(text.utf8), now: now)
  }

  // MARK: Accepted files

  @Test func aMinimalCampaignHasOneWaveWithAllDevices() throws {
    let campaign = try Self.read(Self.minimal).campaign
    #expect(
      campaign
        == Campaign(
          name: "c", devices: [FleetDevice(id: "sim:1"), FleetDevice(id: "sim:2")],
          images: [nil: "a.bin"]))
  }

  @Test func everyKeyIsParsed() throws {
    let file = try Self.read(
      """
      campaign: all of it
      image: other.bin
      images: {door: door.bin, "gate": gate.zip}
      devices:
        - id: sim:1
          name: one
          board: door
          site: berlin
          tags: [a, b]
          key-file: keys/one
          version: 1.2.0
        - sim:2
      select: board=door or id=sim:2
      waves:
        - name: first
          devices: [one]
          success: 95%
          stop: 2
          seen: 60%
          soak: 2h
          approve: true
        - devices: 100%
          stop: 10%
      window:
        days: [mon, sun]
        from: "22:00"
        to: "04:30"
        zone: +02:00
        at-end: break-off
        not-before: 2026-11-24T00:00:00Z
        not-after: 2026-12-24T00:00:00+01:00
      retries: {link: 7, same: 3, first-delay: 2s, longest-delay: 2m, jitter: 10%, infrastructure: 9}
      hooks:
        before-device: [hooks/lock, --quiet]
        after-device: echo "$OTAFLASH_HOOK_OUTCOME" >> log
        before-wave: "true"
        after-wave: [notify]
        time-limit: 5s
        on-failure: fail
        after-failure: fail
      devices-scan:
        name: Door*
        service: FE59
        rssi: -80
        for: 20s
        board: door
        site: berlin
        tags: [found]
        key-file: keys/doors
      parallel: 3
      flash:
        mode: without-response
        mtu: 247
        allow-downgrade: true
        allow-unknown: true
        allow-other-hardware: true
        force: true
        attempt-limit: 90s
        delta: require
      seed: 12
      """
    )
    let campaign = file.campaign
    var one = FleetDevice(id: "sim:1", name: "one", board: "door", site: "berlin")
    one.tags = ["a", "b"]
    one.keyFile = "keys/one"
    one.version = FirmwareVersion(1, 2, 0)
    var expected = Campaign(
      name: "all of it", devices: [one, FleetDevice(id: "sim:2")],
      images: [nil: "other.bin", "door": "door.bin", "gate": "gate.zip"],
      waves: [
        Wave(
          "first", .named(["one"]),
          thresholds: WaveThresholds(successPercent: 95, stop: .count(2), seenPercent: 60),
          soak: .seconds(7200), needsApproval: true),
        Wave("2", .percent(100), thresholds: WaveThresholds(stop: .percent(10))),
      ])
    expected.selector = try DeviceExpression(parsing: "board=door or id=sim:2")
    expected.window = TransferWindow(
      days: [.monday, .sunday], opens: 22 * 60, closes: 4 * 60 + 30,
      zone: ZoneOffsets(minutes: 120), atEnd: .breakOff,
      notBefore: WallClockTime(milliseconds: 1_795_478_400_000),
      notAfter: WallClockTime(milliseconds: 1_798_066_800_000))
    expected.retries = RetryPolicy(
      linkAttempts: 7, sameFailures: 3, firstDelay: .seconds(2), longestDelay: .seconds(120),
      jitter: 0.1, infrastructureFailures: 9)
    expected.hooks.commands = [
      .beforeDevice: .words(["hooks/lock", "--quiet"]),
      .afterDevice: .shell("echo \"$OTAFLASH_HOOK_OUTCOME\" >> log"),
      .beforeWave: .shell("true"), .afterWave: .words(["notify"]),
    ]
    expected.hooks.timeLimit = .seconds(5)
    expected.hooks.onFailure = .fail
    expected.hooks.afterFailure = .fail
    var scan = DeviceScan()
    scan.namePattern = "Door*"
    scan.service = "fe59"
    scan.rssiMinimum = -80
    scan.duration = .seconds(20)
    scan.board = "door"
    scan.site = "berlin"
    scan.tags = ["found"]
    scan.keyFile = "keys/doors"
    #expect(file.devicesScan == scan)
    expected.parallel = 3
    expected.flash.writing = .withoutResponse
    expected.flash.delta = .require
    expected.flash.mtu = 247
    expected.flash.allowDowngrade = true
    expected.flash.allowUnknown = true
    expected.flash.allowOtherHardware = true
    expected.flash.force = true
    expected.flash.attemptLimit = .seconds(90)
    expected.seed = 12
    #expect(campaign == expected)
  }

  /// A time of day needs no quotation marks, because base-60 numbers of YAML 1.1 are not used.
  @Test func aTimeOfDayNeedsNoQuotationMarks() throws {
    let file = try Self.read(Self.minimal + "window: {from: 22:00, to: 24:00}\n")
    #expect(file.campaign.window?.opens == 22 * 60 && file.campaign.window?.closes == 24 * 60)
  }

  @Test func aNamedZoneHasItsDaylightSavingTime() throws {
    let file = try Self.read(
      Self.minimal + "window: {from: 22:00, to: 23:00, zone: Europe/Berlin}\n")
    let zone = try #require(file.campaign.window?.zone)
    #expect(zone.minutes(at: Self.now) == 60)
    #expect(zone.minutes(at: Self.now.advanced(by: .seconds(180 * 86_400))) == 120)
    #expect(zone.minutes(at: Self.now.advanced(by: .seconds(735 * 86_400))) == 60)
  }

  @Test func devicesOfATableFollowTheListedDevices() throws {
    let file = try Self.read(Self.minimal + "devices-file: d.csv\n")
    let table = try DeviceTable(path: "d.csv", bytes: Array("id,name\nsim:3,three\n".utf8))
    let whole = file.adding(table, path: "d.csv")
    #expect(whole.campaign.devices.map(\.id) == ["sim:1", "sim:2", "sim:3"])
    #expect(try whole.plan(now: Self.now).deviceCount == 3)
  }

  @Test func aCampaignMayHaveOnlyScannedDevices() throws {
    let file = try Self.read(
      "campaign: c\nimage: a\ndevices-scan: {name: Door*, rssi: -70, board: b, tags: [x]}\n")
    let scan = try #require(file.devicesScan)
    #expect(scan.takes(name: "Door 1", rssi: -70) && !scan.takes(name: "Door 1", rssi: -71))
    #expect(!scan.takes(name: nil, rssi: -1) && !scan.takes(name: "Gate", rssi: -1))
    #expect(!scan.takes(name: "Door 1", rssi: nil))
    let found = [("A", "Door 1"), ("B", "Door"), ("C", "Door")].map {
      scan.device($0.0, name: $0.1, rssi: -60)
    }
    let whole = file.adding(found, from: .scan)
    #expect(whole.campaign.devices.map(\.id) == ["A", "B", "C"])
    #expect(
      whole.campaign.devices.map(\.name) == ["Door 1", nil, nil], "an ambiguous name is removed")
    #expect(whole.campaign.devices.allSatisfy { $0.board == "b" && $0.tags == ["x"] })
    #expect(try whole.plan(now: Self.now).deviceCount == 3)
    do throws(CampaignFileFault) {
      _ = try file.plan(now: Self.now)
      Issue.record("nothing was found")
    } catch {
      #expect(error.words == "there are no devices" && error.place.line == 3)
    }
  }

  @Test func aliasesStandForDevicesInListsWavesAndSelections() throws {
    let aliases = [
      "door-01": "C0:FF:EE:00:00:01", "door-02": "C0:FF:EE:00:00:02/random",
      "door-03": "C0:FF:EE:00:00:03", "gate": "C0:FF:EE:00:00:09",
    ]
    let file = try Self.read(
      """
      campaign: c
      image: a
      devices: [door-01, {id: door-02, name: cellar}, c0:ff:ee:00:00:03, {id: sim:1, name: gate}]
      select: id!=gate and not id=door-02
      waves: [{devices: [door-03, gate]}, {devices: rest}]
      devices-scan: {name: Door*}
      """)
    let (resolved, used) = file.resolvingAliases { aliases[$0] }
    // A name that the list itself contains does not stand for another device.
    #expect(Set(used.keys) == ["door-01", "door-02", "door-03"])
    let found = ["C0:FF:EE:00:00:01", "C0:FF:EE:00:00:04"].map {
      FleetDevice(id: $0, name: "door-01")
    }
    let whole = resolved.adding(found, from: .scan)
    #expect(
      whole.campaign.devices.map(\.id) == [
        "C0:FF:EE:00:00:01", "C0:FF:EE:00:00:02/random", "c0:ff:ee:00:00:03", "sim:1",
        "C0:FF:EE:00:00:04",
      ])
    #expect(whole.campaign.devices.map(\.name) == ["door-01", "cellar", "door-03", "gate", nil])
    let plan = try whole.plan(now: Self.now)
    #expect(plan.waves[0].devices.map(\.id) == ["c0:ff:ee:00:00:03", "sim:1"])
    #expect(plan.leftOut.map(\.name) == ["cellar"])
  }

  @Test func aDeviceWithTwoNamesIsReportedWithItsPosition() throws {
    let file = try Self.read(
      "campaign: c\nimage: a\ndevices:\n- c0:ff:ee:00:00:01\n- door-01\n")
    let (resolved, _) = file.resolvingAliases { $0 == "door-01" ? "C0:FF:EE:00:00:01" : nil }
    do throws(CampaignFileFault) {
      _ = try resolved.plan(now: Self.now)
      Issue.record("a device was listed twice")
    } catch {
      #expect(error.place.line == 5, "\(error)")
    }
  }

  @Test func knownAndScannedDevicesDoNotChangeListedDevices() throws {
    let file = try Self.read(
      "campaign: c\nimage: a\ndevices: [{id: A, site: berlin}]\ndevices-scan: {service: fe59}\n")
    let found = ["A", "B"].map { FleetDevice(id: $0, name: "Door \($0)") }
    let whole = file.adding(found, from: .scan).campaign.devices
    #expect(whole == [FleetDevice(id: "A", site: "berlin"), found[1]])
  }

  @Test func aSimulatedFleetIsResolvedByTheCaller() throws {
    let file = try Self.read("campaign: c\nimage: a\ndevices: [sim:1, 'sim-fleet:24?seed=3']\n")
    #expect(file.simulatedFleet == "sim-fleet:24?seed=3")
    #expect(file.campaign.devices.map(\.id) == ["sim:1"])
    let whole = file.adding([FleetDevice(id: "sim:2")], from: .simulatedFleet)
    #expect(try whole.plan(now: Self.now).deviceCount == 2)
    let alone = try Self.read("campaign: c\nimage: a\ndevices: ['sim-fleet:24']\n")
    #expect(alone.campaign.devices.isEmpty && alone.simulatedFleet == "sim-fleet:24")
  }

  // MARK: Refused files

  /// The text after the minimal campaign, the position, and a part of the message.
  private static let refusedTexts: [(text: String, line: Int, column: Int, words: String)] = [
    ("wave: []", 4, 1, "a campaign has no key 'wave'"),
    ("campaign: d", 4, 1, "duplicate key 'campaign'"),
    ("parallel: 1\nparallel: 2", 5, 1, "duplicate key 'parallel'"),
    ("flash: {mtu: 23, mode: auto, mtu: 24}", 4, 30, "duplicate key 'mtu'"),
    ("flash: {mtu: 600}", 4, 14, "mtu is 600; the permitted range is 23 to 517"),
    ("parallel: 0", 4, 11, "parallel is 0; the permitted range is 1 to 64"),
    ("retries: {same: 0}", 4, 17, "same is 0; the permitted range is 1 to 100"),
    ("waves: [{devices: 0}]", 4, 19, "'0' is not a number"),
    ("waves: [{devices: 1, stop: 0}]", 4, 28, "'0' is not a valid stop"),
    ("hooks: {before-device: 5}", 4, 24, "before-device must be a command, not the number 5"),
    ("imagee: b", 4, 1, "did you mean 'image'?"),
    ("image2: b", 4, 1, "a campaign has no key 'image2'"),
    ("select: bord=x", 4, 9, "'bord' is not a fact"),
    ("select: \"board=x and\"", 4, 21, "expected a fact"),
    ("select: [a]", 4, 9, "select must be a string"), ("select: ''", 4, 9, "select is empty"),
    ("waves: []", 4, 8, "waves is empty"), ("waves: x", 4, 8, "waves must be a list"),
    ("waves: [x]", 4, 9, "write a wave as"), ("waves: [{name: a}]", 4, 9, "no key 'devices'"),
    ("waves: [{devices: some}]", 4, 19, "'some' is not a number"),
    ("waves: [{devices: -1}]", 4, 19, "'-1' is not a number"),
    ("waves: [{devices: 101%}]", 4, 19, "'101%' is not a number"),
    ("waves: [{devices: 1, stop: most}]", 4, 28, "'most' is not a valid stop"),
    ("waves: [{devices: 1, success: 2}]", 4, 31, "'2' is not a valid success"),
    ("waves: [{devices: 1, soak: 5}]", 4, 28, "'5' is not a valid soak"),
    ("waves: [{devices: 1, soak: 999999d}]", 4, 28, "'999999d' is not a valid soak"),
    ("waves: [{devices: 1, approve: yes}]", 4, 31, "'yes' is not a valid approve"),
    ("waves: [{devices: 1, until: x}]", 4, 22, "a wave has no key 'until'"),
    ("window: {from: 25:00}", 4, 16, "'25:00' is not a valid from"),
    ("window: {from: 24:00}", 4, 10, "a day ends at 24:00"),
    ("window: {days: [monday]}", 4, 17, "'monday' is not a day"),
    ("window: {zone: Europe/Atlantis}", 4, 16, "'Europe/Atlantis' is not a valid zone"),
    ("window: {zone: +25:00}", 4, 16, "'+25:00' is not a valid zone"),
    ("window: {not-before: tomorrow}", 4, 22, "'tomorrow' is not a valid not-before"),
    ("window: {at-end: stop}", 4, 18, "expected finish or break-off"),
    ("retries: {link: many}", 4, 17, "'many' is not a valid link"),
    ("retries: {first-delay: 9m, longest-delay: 1m}", 4, 28, "'longest-delay' at least"),
    ("retries: {first-delay: 0s}", 4, 10, "must be above 0"),
    ("flash: {mode: fast}", 4, 15, "expected auto or with-response or without-response"),
    ("flash: {attempt-limit: 0s}", 4, 9, "must be above 0"),
    ("hooks: x", 4, 8, "write hooks as"), ("hooks: {}", 4, 8, "the hooks contain no command"),
    ("hooks: {before: x}", 4, 9, "hooks has no key 'before'"),
    ("hooks: {time-limit: 5s}", 4, 8, "the hooks contain no command"),
    ("hooks: {before-wave: []}", 4, 22, "before-wave is empty"),
    ("hooks: {before-wave: ''}", 4, 22, "before-wave is empty"),
    ("hooks: {before-wave: {a: b}}", 4, 22, "must be a list of words, or a string for /bin/sh"),
    ("hooks: {before-wave: x, time-limit: 0s}", 4, 25, "must be above 0"),
    ("hooks: {before-wave: x, on-failure: stop}", 4, 37, "expected skip or fail"),
    ("hooks: {before-wave: x, after-failure: skip}", 4, 40, "expected note or fail"),
    ("hooks: {before-wave: \"a\\0b\"}", 4, 22, "U+0000"),
    ("devices-scan: {}", 4, 15, "a scan requires 'name' or 'service'"),
    ("devices-scan: {rssi: -60}", 4, 15, "a scan requires 'name' or 'service'"),
    ("devices-scan: {service: door}", 4, 25, "'door' is not a valid service"),
    ("devices-scan: {service: fe59-1}", 4, 25, "'fe59-1' is not a valid service"),
    ("devices-scan: {name: a, rssi: -200}", 4, 31, "'-200' is not a valid rssi"),
    ("devices-scan: {name: a, for: 0s}", 4, 25, "the scan time must be above 0"),
    ("devices-scan: {name: a, for: 2h}", 4, 25, "at most 3600 s"),
    ("devices-scan: {name: a, seconds: 3}", 4, 25, "a scan has no key 'seconds'"),
    ("parallel: 0x4", 4, 11, "'0x4' is not a valid parallel"),
    ("a: &x b", 4, 4, "anchors (&)"), ("select: &x tag:a", 4, 9, "anchors (&)"),
    ("select: *x", 4, 9, "undefined alias"), ("select: 'a", 5, 1, "found unexpected end of stream"),
    ("- a", 4, 1, "did not find expected"), ("\tselect: a", 4, 1, "tab character"),
    ("---\nb: c", 4, 1, "a single document in the stream, but found another"),
    ("<<: {a: b}", 4, 1, "a campaign has no key '<<'"),
    ("? [a]\n: b", 4, 3, "a key must be a string"),
  ]

  @Test(arguments: refusedTexts)
  func errorsAreReportedWithTheirPosition(
    _ text: String, _ line: Int, _ column: Int, _ words: String
  ) {
    expectFault(Self.minimal + text + "\n", line, column, words)
  }

  @Test(arguments: [
    ("", 1, 1, "the file is empty"), ("a", 1, 1, "write a campaign as"),
    ("campaign: c", 1, 1, "one of 'devices', 'devices-file'"),
    ("image: a\ndevices: [a]", 1, 1, "'campaign', the name of the campaign, is missing"),
    ("campaign: c\ndevices: [a]", 1, 1, "'image' or 'images' is required"),
    ("campaign: c\nimage: a\ndevices: [{name: a}]", 3, 11, "the device has no key 'id'"),
    ("campaign: c\nimage: a\ndevices: [{id: a, color: red}]", 3, 19, "a device has no key 'color'"),
    ("campaign: c\nimage: a\ndevices: [{id: a, version: 1.2}]", 3, 28, "not a valid version"),
    ("campaign: c\nimage: a\ndevices: [[a]]", 3, 11, "write a device as"),
    ("campaign: c\nimage: a\ndevices: ['sim-fleet:2', 'sim-fleet:3']", 3, 26, "one simulated"),
    ("campaign: c\nimage: a\ndevices: [{id: 'sim-fleet:2'}]", 3, 11, "one simulated fleet"),
    ("campaign: c\nimages: []\ndevices: [a]", 2, 9, "write images as"),
    ("campaign: c\nimage: a\ndevices: [{id: a, tags: ['x,y']}]", 3, 26, "several tags as [x, y]"),
  ])
  func missingKeysAreReported(_ text: String, _ line: Int, _ column: Int, _ words: String) {
    expectFault(text, line, column, words)
  }

  private func expectFault(_ text: String, _ line: Int, _ column: Int, _ words: String) {
    do throws(CampaignFileFault) {
      _ = try Self.read(text)
      Issue.record("it was read: \(text)")
    } catch {
      #expect(error.words.contains(words), "\(error)")
      #expect(error.place == FilePlace(line: line, column: column), "\(error)")
    }
  }

  /// Mistakes that only the complete campaign shows are reported at the position of their cause.
  @Test(arguments: [
    ("devices: [a, b, a]", 3, 17, "listed twice"),
    ("devices: ['C0:FF:EE:00:00:01', 'c0:ff:ee:00:00:01']", 3, 32, "listed twice"),
    ("devices:\n  - id: a\n  - {id: b, name: a}", 5, 5, "'a' identifies two devices"),
    ("devices: [a, b]\nwaves:\n  - devices: 1\n  - {name: x, devices: 5}", 6, 5, "requires 5"),
    ("devices: [a, b]\nwaves:\n  - devices: 1", 4, 1, "1 devices are in no wave"),
    ("devices: [a]\nwaves:\n  - {devices: 50%}\n  - {name: y, devices: 40%}", 6, 5, "ends at 40 %"),
    ("devices: [a]\nselect: version<1.0.0", 4, 1, "which is unknown for a"),
    ("devices: [a]\nselect: tag:x", 4, 1, "matches no device"),
    ("devices: [a]\nimages: {b: c}", 4, 1, "there is an image for board 'b'"),
    ("devices: [a]\nwindow: {not-after: 2020-01-01T00:00:00Z}", 4, 1, "does not open again"),
  ])
  func errorsOfTheCompleteCampaignHaveAPosition(
    _ text: String, _ line: Int, _ column: Int, _ words: String
  ) throws {
    let file = try Self.read("campaign: c\nimage: i\n" + text + "\n")
    do throws(CampaignFileFault) {
      _ = try file.plan(now: Self.now)
      Issue.record("it was planned: \(text)")
    } catch {
      #expect(error.words.contains(words), "\(error)")
      #expect(error.place == FilePlace(line: line, column: column), "\(error)")
    }
  }

  @Test func aBoardWithoutAnImageIsReportedAtItsDevice() throws {
    let file = try Self.read(
      "campaign: c\nimages: {door: d.bin}\ndevices:\n  - {id: a, board: door}\n"
        + "  - {id: b, board: gate}\n")
    #expect(
      throws: CampaignFileFault(
        at: FilePlace(line: 5, column: 5), "there is no image for board 'gate' of b")
    ) { try file.plan(now: Self.now) }
  }
}
#endif
