import OtaflashFirmware
import OtaflashSimulation
import OtaflashSwarm
import OtaflashUpdate
import Testing

/// Scenarios that once ended wrongly. Each is spelled out, so that it stays the same whatever the
/// swarm draws from a seed; the name of its kind starts the profile.
@Suite struct KeptScenarioTests {
  private static func violations(
    _ profile: String, size: Int, _ change: (inout Scenario) -> Void = { _ in }
  ) throws -> [Violation] {
    var scenario = Scenario(profile: profile, image: try .drawn(for: profile, size: size))
    change(&scenario)
    return Judgement(of: scenario).violations
  }

  /// Another process has flashed the image; the board reports another hardware id since.
  @Test func aBoardOfOtherHardwareIsNotCalledCurrent() throws {
    let found = try Self.violations("plain?slot=32K&drop=close&other-board", size: 5291) {
      $0.earlier = [EarlierUpdate(image: $0.image, bases: [])]
      $0.mustFail = true
    }
    #expect(found.isEmpty, "\(found)")
  }

  /// The flash hangs after the answer to the activation, and the inactivity timer restarts the old
  /// application, which does not report its version.
  @Test func aRestartByTheInactivityTimerIsNoActivation() throws {
    let found = try Self.violations(
      "nordic-dfu?slot=64K&entry=bonded&banks=dual&object=8K&mtu=247&inactivity=5s"
        + "&information=no&erase=0&write=200ms&boot=300ms&drop=close&busy-forever", size: 1148)
    #expect(found.isEmpty, "\(found)")
  }

  /// An earlier update leaves an image that has not started yet, or is on trial; the image at hand
  /// is older, and is refused.
  @Test(arguments: ["never-returns", "trial=yes&cut-at-pdu=75"])
  func anImageOfAnEarlierUpdateIsNoMixture(_ fault: String) throws {
    let found = try Self.violations("plain?slot=64K&boot=300ms&\(fault)", size: 369) {
      $0.image = .drawn(size: 369, version: FirmwareVersion(1, 1, 9))
      $0.earlier = [
        EarlierUpdate(
          image: .drawn(size: 1025, version: FirmwareVersion(1, 2, 2), seed: 2), bases: [])
      ]
      $0.earlier[0].breaksOffAfter = fault == "never-returns" ? nil : .seconds(2)
    }
    #expect(found.isEmpty, "\(found)")
  }

  /// The link is lost after the answer to the activation, while the boot loader still writes its
  /// settings; it advertises meanwhile.
  @Test(arguments: Array(stride(from: 7300, through: 7900, by: 50)))
  func aBootLoaderThatStillStoresTheImageIsWaitedFor(milliseconds: Int) throws {
    let found = try Self.violations(
      "nordic-dfu?seed=7000004962&slot=64K&entry=button&banks=single&object=4K&mtu=23"
        + "&information=yes&erase=400ms&write=200ms&boot=0&drop=timeout&loss=0%&interval=7.5ms"
        + "&phy=2M&ll=251&response=same&cut-after=\(milliseconds)ms", size: 8656
    ) {
      $0.mtu = 23
      $0.mustSucceed = true
    }
    #expect(found.isEmpty, "\(found)")
  }

  /// The flash is slower than the air, and what was lost fills the queue of the next attempt.
  @Test func aFlashSlowerThanTheAirIsPaced() throws {
    let found = try Self.violations(
      "nordic-dfu?seed=6000007038&slot=64K&entry=button&banks=dual&object=4K&mtu=247"
        + "&information=yes&erase=85ms&write=200ms&boot=300ms&drop=timeout&loss=0%"
        + "&interval=7.5ms&phy=2M&ll=251&response=same&queue=30000", size: 3940
    ) {
      $0.mtu = 100
      $0.mustSucceed = true
    }
    #expect(found.isEmpty, "\(found)")
  }

  /// The transport accepts a complete window immediately, and the link carries one write each
  /// 200 ms: a request after 192 writes is not answered in 30 s. The state that the device reports
  /// after a lost link does not agree, so that a new connection continues nothing.
  @Test(arguments: WriteMode.allCases)
  func aRequestAfterAFullWindowIsAnsweredInTime(_ mode: WriteMode) throws {
    let found = try Self.violations(
      "plain?slot=64K&erase=2s&write=0&ring=3K&mtu=23&boot=50ms&drop=timeout&interval=200ms"
        + "&ll=251&phy=1M&loss=0%&buffers=1&response=next&foreign-state", size: 8194
    ) {
      $0.mode = mode
      $0.mustSucceed = true
    }
    #expect(found.isEmpty, "\(found)")
  }

  /// The device drops long PDUs without an answer, and the link needs 9 s or more for a window.
  @Test(arguments: [
    (ring: "4K", mtu: 185, interval: "200ms", ll: 27, buffers: 4),
    (ring: "8K", mtu: 498, interval: "100ms", ll: 69, buffers: 1),
  ])
  func writesThatAreTooLongAreShortenedOnASlowLink(
    ring: String, mtu: Int, interval: String, ll: Int, buffers: Int
  ) throws {
    let found = try Self.violations(
      "plain?slot=32K&erase=0&write=0&ring=\(ring)&mtu=\(mtu)&boot=0&drop=close"
        + "&interval=\(interval)&ll=\(ll)&phy=1M&loss=0%&buffers=\(buffers)&mtu-lie", size: 24_576
    ) {
      $0.mode = .withoutResponse
      $0.mtu = mtu
      $0.mustSucceed = true
    }
    #expect(found.isEmpty, "\(found)")
  }

  /// The size of writes that such a device accepts is kept when a patch is given up, because the
  /// base in the device's flash is damaged.
  @Test func theSizeOfWritesIsKeptWhenAPatchIsGivenUp() throws {
    let profile =
      "plain?slot=32K&erase=0&write=0&ring=4K&mtu=185&boot=0&drop=close&ll=27&phy=1M&loss=0%"
      + "&mtu-lie&base=spoilt&delta=yes"
    let running = try SimulationProfile(parsing: profile)
    let board = try SimulatedBoard(
      profile: running, storage: nil, clock: VirtualTimeline().clock)
    let base = try board.runningImage()
    var scenario = Scenario(profile: profile, image: .drawn(size: 24_576))
    scenario.image = FirmwareImage(
      name: "release.bin", format: .binary,
      bytes: Array(base.prefix(24_000)) + scenario.image.bytes.prefix(576),
      version: scenario.image.version, hardware: scenario.image.hardware)
    scenario.bases = [base]
    scenario.mode = .withoutResponse
    scenario.mustSucceed = true
    let ending = try scenario.run()
    #expect(ending.violations(of: scenario).isEmpty)
    let givenUp = try #require(
      ending.events.firstIndex { if case .patchGivenUp = $0 { true } else { false } })
    let rewinds = ending.events[givenUp...].filter {
      if case .rewound = $0 { true } else { false }
    }
    #expect(rewinds.isEmpty, "\(rewinds)")
  }
}
