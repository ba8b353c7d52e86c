import OtaflashFirmware
import OtaflashSimulation
import Testing

@Suite struct SimulationProfileTests {
  @Test(arguments: ["", "sim:", "plain", "sim:plain", "sim:?", "plain?"])
  func theEmptyTextIsThePlainDevice(text: String) throws {
    #expect(try SimulationProfile(parsing: text) == SimulationProfile())
  }

  @Test func everyKeyIsParsed() throws {
    let profile = try SimulationProfile(
      parsing: "sim:fast?seed=7&interval=7.5ms&phy=1M&ll=27&loss=1.5%&mtu=185&erase=20s&write=1ms"
        + "&buffers=4&slot=64K&version=2.3.4&hardware=0x00B00001&key=00ffA0&boot=1s&trial=yes"
        + "&errors=1&response=same&drop=close&cut-at-pdu=9&torn&notification-loss=25%")
    #expect(profile.name == "fast")
    #expect(profile.seed == 7)
    #expect(profile.radio.interval == .shortest)
    #expect(profile.radio.phy == .le1M)
    #expect(profile.radio.payloadMaximum == 27)
    #expect(profile.radio.packetErrorRate == 0.015)
    #expect(profile.radio.errorsClosingEvent == 1)
    #expect(profile.mtu == 185)
    #expect(profile.eraseTime == .seconds(20) && profile.writeTimePer4KiB == .milliseconds(1))
    #expect(profile.radio.controllerBuffers == 4)
    #expect(profile.slotSize == 65_536)
    #expect(profile.version == FirmwareVersion(2, 3, 4))
    #expect(profile.hardware == HardwareID(0x00B0_0001))
    #expect(profile.key == [0x00, 0xFF, 0xA0])
    #expect(profile.bootTime == .seconds(1))
    #expect(profile.startsOnTrial)
    #expect(profile.radio.responseEvent == .same)
    #expect(profile.linkDrop == .close)
    #expect(
      profile.faults
        == FaultPlan([.cutAtPDU: .count(9), .torn: .whole, .notificationLoss: .share(0.25)]))
  }

  @Test func everyNameOfTheCatalogueIsAProfile() throws {
    for (name, summary) in SimulationProfile.catalogue {
      #expect(try SimulationProfile(parsing: name).name == name)
      #expect(!summary.isEmpty && summary.utf8.count <= 80)
    }
  }

  @Test(arguments: [
    ("interval", "8ms"), ("interval", "15"), ("phy", "3M"), ("ll", "26"), ("ll", "252"),
    ("loss", "101%"), ("loss", "0.1"), ("errors", "0"), ("mtu", "22"), ("mtu", "518"),
    ("erase", "-1ms"),
    ("write", "soon"), ("buffers", "0"), ("slot", "5000"), ("slot", "4K"), ("version", "1.2"),
    ("hardware", "board"), ("key", "0"), ("key", "0g"), ("key", ""), ("boot", "+1s"),
    ("trial", "maybe"), ("response", "later"), ("drop", "softly"), ("seed", "-1"),
    ("cut-at-pdu", "0"), ("cut-after", "2"), ("torn", "yes"), ("reverts", ""),
    ("reset-at-flash-op", "many"), ("notification-loss", "10"),
  ])
  func aValueThatIsNotAllowedIsReported(key: String, value: String) {
    let fault = #expect(throws: ProfileFault.self) {
      try SimulationProfile(parsing: "plain?\(key)=\(value)")
    }
    guard case .valueNotAllowed(key, value, let allowed)? = fault else {
      Issue.record("\(String(describing: fault))")
      return
    }
    #expect(!allowed.isEmpty)
  }

  @Test func anUnknownNameListsTheKnownNames() {
    #expect(
      throws: ProfileFault.unknownProfile(
        name: "plane", allowed: SimulationProfile.catalogue.map(\.name))
    ) { try SimulationProfile(parsing: "plane") }
    #expect(
      throws: ProfileFault.unknownKey(
        key: "color", allowed: SimulationProfile.keys.map(\.key))
    ) { try SimulationProfile(parsing: "plain?color=red") }
  }

  @Test func aKeyOccursOnce() {
    #expect(throws: ProfileFault.repeatedKey(key: "seed")) {
      try SimulationProfile(parsing: "plain?seed=1&seed=2")
    }
  }

  @Test func aRadioThatCarriesNothingIsRefused() {
    #expect(
      throws: ProfileFault.radio(
        .packetLongerThanEvent(packetMicroseconds: 17_654, eventMicroseconds: 14_850))
    ) { try SimulationProfile(parsing: "plain?phy=S8") }
  }
}
