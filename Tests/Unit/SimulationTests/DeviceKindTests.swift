import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Testing

/// Tests of the settings of single kinds of devices, and of names and addresses.
@Suite struct DeviceKindTests {
  @Test func everyKeyOfTheSecureBootloaderIsParsed() throws {
    let profile = try SimulationProfile(
      parsing: "nordic-dfu?entry=bonded&banks=single&fw=7&bl=8&hw=0x34&sd=0xB6&debug=yes&init=256"
        + "&object=64K&inactivity=5s&information=no&mtu=100")
    var settings = SecureBootloaderSettings()
    (settings.entry, settings.banks) = (.bonded, .single)
    (settings.applicationVersion, settings.bootloaderVersion) = (7, 8)
    (settings.hardwareVersion, settings.softDevice) = (52, 0xB6)
    (settings.isDebug, settings.initPacketMaximum, settings.dataObjectMaximum) = (true, 256, 65_536)
    (settings.inactivity, settings.hasDeviceInformation) = (.seconds(5), false)
    #expect(profile.device == .secureBootloader(settings))
    #expect(profile.mtu == 100 && profile.linkDrop == .close)
    #expect(profile.writeTimePer4KiB == .microseconds(41_984))
  }

  @Test func everyKeyOfTheLegacyBootloaderIsParsed() throws {
    let profile = try SimulationProfile(
      parsing: "nordic-legacy?variant=infinitime&entry=button&type=2&revision=3&sd=0x65"
        + "&disabled=yes&till-reboot=yes&files=64K&inactivity=5s&information=no")
    var settings = LegacyBootloaderSettings()
    (settings.variant, settings.entry) = (.infinitime, .button)
    (settings.deviceType, settings.deviceRevision, settings.softDevice) = (2, 3, 0x65)
    (settings.isDisabled, settings.inactivity) = (true, .seconds(5))
    (settings.isEnabledTillReboot, settings.fileSystemSize) = (true, 65_536)
    settings.hasDeviceInformation = false
    #expect(profile.device == .legacyBootloader(settings))
  }

  @Test func everyKeyOfTheServerIsParsed() throws {
    let profile = try SimulationProfile(
      parsing: "smp?mode=ram-load&netbufs=3x384&reassembly=no&progressive=yes&check=no&params=no"
        + "&bootinfo=no&no-downgrade=yes&busy=2&v1=yes&images=2&confirm-others=no")
    var settings = SMPServerSettings()
    settings.mode = .ramLoad
    settings.netBuffers = SMPServerSettings.NetBuffers(count: 3, size: 384)
    (settings.reassembles, settings.erasesProgressively) = (false, true)
    (settings.checksImages, settings.hasParameters) = (false, false)
    (settings.hasBootloaderInformation, settings.forbidsDowngrade) = (false, true)
    (settings.busyRequests, settings.isVersion1) = (2, true)
    (settings.imageCount, settings.confirmsOtherImages) = (2, false)
    #expect(profile.device == .smpServer(settings))
  }

  @Test(arguments: [
    ("smp", "mode", "swop"), ("smp", "netbufs", "4"), ("smp", "netbufs", "1x384"),
    ("smp", "netbufs", "4x63"), ("smp", "netbufs", "4x384x"), ("smp", "busy", "-1"),
    ("smp", "images", "0"),
    ("smp", "images", "3"),
    ("smp", "reassembly", "maybe"), ("nordic-dfu", "entry", ""), ("nordic-dfu", "sd", "0xZZ"),
    ("nordic-dfu", "hw", "4294967296"), ("nordic-dfu", "object", "5000"),
    ("nordic-dfu", "init", "63"), ("nordic-legacy", "type", "65536"),
    ("nordic-legacy", "inactivity", "soon"), ("infinitime", "variant", "sdk12"),
  ])
  func aValueThatIsNotAllowedIsReported(kind: String, key: String, value: String) {
    let fault = #expect(throws: ProfileFault.self) {
      try SimulationProfile(parsing: "\(kind)?\(key)=\(value)")
    }
    guard case .valueNotAllowed(key, value, let allowed)? = fault else {
      Issue.record("\(String(describing: fault))")
      return
    }
    #expect(!allowed.isEmpty)
  }

  /// Unsupported keys are rejected with a list of the supported keys.
  @Test(arguments: [
    ("smp", "ring=8K"), ("smp", "key=00"), ("smp", "wrong-verify-crc"), ("nordic-dfu", "trial=yes"),
    ("nordic-dfu", "mode=swap"), ("nordic-legacy", "key=00"), ("plain", "netbufs=4x384"),
  ])
  func theSettingsOfOtherKindsAreUnknown(kind: String, setting: String) throws {
    let device = try SimulationProfile(parsing: kind).device
    let key = String(setting.prefix { $0 != "=" })
    #expect(
      throws: ProfileFault.unknownKey(
        key: key, allowed: SimulationProfile.keys(of: device).map(\.key))
    ) { try SimulationProfile(parsing: "\(kind)?\(setting)") }
  }

  @Test func everyKindIsListedWithItsKeys() {
    let names = SimulationProfile.kinds.map(\.name)
    #expect(Set(names).isSuperset(of: ["smp", "nordic-dfu", "nordic-legacy"]))
    #expect(Set(names).isSubset(of: SimulationProfile.catalogue.map(\.name)))
    for kind in SimulationProfile.kinds {
      #expect(!kind.keys.isEmpty && kind.keys.allSatisfy { !$0.allowed.isEmpty })
    }
  }

  /// Core 5.4, Vol 3, Part C, 12.1: the Device Name equals the name in the advertisement.
  @Test(arguments: [
    ("plain", "otaflash board"), ("smp", "Zephyr"), ("nordic-dfu", "Nordic_App"),
    ("nordic-legacy", "Nordic_App"), ("infinitime", "InfiniTime"),
  ])
  func anApplicationHasOneNameEverywhere(kind: String, usual: String) throws {
    for givenName in [nil, "door-01"] {
      var profile = try SimulationProfile(parsing: kind)
      profile.givenName = givenName
      let names = try withBoard(profile) { board, clock in
        while board.advertisement == nil { _ = await clock.pause(for: .milliseconds(10)) }
        let advertised = board.advertisement?.name
        var host = try await BareHost.connected(to: board)
        let own = try await host.read(BluetoothUUID(0x2A00))
        return (advertised, String(decoding: own, as: UTF8.self))
      }
      #expect(names.0 == givenName ?? usual && names.1 == givenName ?? usual)
    }
  }

  @Test(arguments: [
    ("C0:FF:EE:00:01:FF", 1, "C0:FF:EE:00:01:00"), ("C0:FF:EE:00:01:00", -1, "C0:FF:EE:00:01:FF"),
    ("c0:ff:ee:00:01:7f", 1, "C0:FF:EE:00:01:80"),
  ])
  func onlyTheLastByteOfAnAddressMoves(address: String, offset: Int8, moved: String) throws {
    let address = try #require(DeviceAddress(address))
    #expect(address.moved(by: offset).description == moved)
  }

  @Test(arguments: ["", "C0:FF:EE:00:01", "C0:FF:EE:00:01:0", "C0-FF-EE-00-01-00", "0xC0FFEE"])
  func otherTextsAreNotAddresses(text: String) { #expect(DeviceAddress(text) == nil) }
}
