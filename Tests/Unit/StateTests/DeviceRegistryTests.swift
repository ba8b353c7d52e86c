import Glibc
import OtaflashFirmware
import OtaflashGATT
import Testing

@testable import OtaflashState

@Suite("Device registry")
struct DeviceRegistryTests {
  private static let flashing = DeviceRecord.Flashing(
    outcome: .flashed, version: FirmwareVersion(1, 3, 0), at: 50)

  @Test("lists the most recently connected devices first, then the most recently seen devices")
  func order() {
    var registry = DeviceRegistry()
    registry.seen("a", name: nil, address: nil, at: 100)
    registry.seen("b", name: nil, address: nil, at: 200)
    registry.connected("c", name: nil, address: nil, at: 10)
    registry.connected("d", name: nil, address: nil, at: 20)
    #expect(registry.records.map(\.id) == ["d", "c", "b", "a"])
    registry.flashed("a", Self.flashing)
    #expect(registry.records.map(\.id) == ["a", "d", "c", "b"])
    #expect(registry["a"]?.lastConnected == 50)
    #expect(registry["a"]?.lastSeen == 100)
    #expect(registry["a"]?.lastFlashing == Self.flashing)
  }

  @Test(
    "a file that was written with a wrong clock is readable",
    arguments: [253_402_300_800.0, 9e15, -0.25, -1e12, .infinity])
  func wrongClock(_ now: Double) throws {
    let directory = try TemporaryDirectory()
    let file = RegistryFile(in: try directory.state())
    _ = try file.update {
      $0.connected("a", name: "door", address: nil, at: now)
      $0.flashed(
        "a", DeviceRecord.Flashing(outcome: .flashed, version: FirmwareVersion(1, 3, 0), at: now))
    }
    let found = try file.load()
    #expect(found.setAside == nil)
    #expect(found.content?["a"]?.name == "door")
  }

  @Test("an advertisement without a name does not remove the name")
  func nameStays() {
    var registry = DeviceRegistry()
    registry.connected("a", name: "door", address: "C0:FF:EE:00:00:01", at: 1)
    registry.seen("a", name: nil, address: nil, at: 2)
    #expect(registry["a"]?.name == "door")
    #expect(registry["a"]?.address == "C0:FF:EE:00:00:01")
    #expect(registry["a"]?.lastSeen == 2)
    #expect(registry["a"]?.lastConnected == 1)
  }

  @Test("two records of a device are merged; each field has the newer value")
  func merged() {
    var campaign = DeviceRecord(id: "a", lastSeen: 50)
    campaign.name = "door"
    campaign.lastConnected = 50
    campaign.lastFlashing = Self.flashing
    var info = DeviceRecord(id: "a", lastSeen: 60)
    info.lastConnected = 60
    for merged in [campaign.merged(with: info), info.merged(with: campaign)] {
      #expect(merged.name == "door" && merged.lastFlashing == Self.flashing)
      #expect(merged.lastConnected == 60 && merged.lastSeen == 60)
      #expect(merged.lastVersion == .init(version: FirmwareVersion(1, 3, 0), at: 50))
    }
    info.running = .init(version: FirmwareVersion(1, 2, 0), at: 60)
    info.name = "gate"
    let merged = campaign.merged(with: info)
    #expect(merged.lastVersion?.version == FirmwareVersion(1, 2, 0) && merged.name == "gate")
  }

  @Test("keeps the version that was read last, not the version of a failed image")
  func version() {
    var registry = DeviceRegistry()
    registry.connected("a", name: nil, address: nil, version: FirmwareVersion(1, 2, 0), at: 10)
    registry.connected("a", name: nil, address: nil, at: 20)
    #expect(registry["a"]?.lastVersion == .init(version: FirmwareVersion(1, 2, 0), at: 10))
    registry.flashed(
      "a", .init(outcome: .failed, version: FirmwareVersion(1, 4, 0), at: 30))
    #expect(registry["a"]?.lastVersion?.version == FirmwareVersion(1, 2, 0))
    registry.flashed("a", Self.flashing)
    #expect(registry["a"]?.lastVersion == .init(version: FirmwareVersion(1, 3, 0), at: 50))
  }

  @Test("keeps 1000 devices and removes the devices that were not seen for the longest time")
  func capacity() {
    var registry = DeviceRegistry()
    for number in 0..<1100 {
      registry.seen("device \(number)", name: nil, address: nil, at: Double(number))
    }
    #expect(registry.records.count == DeviceRegistry.capacity)
    #expect(registry.records.last?.id == "device 100")
    #expect(
      DeviceRegistry((0..<1100).map { DeviceRecord(id: "\($0)", lastSeen: 0) }).records.count
        == 1000)
  }

  @Test("removes no device that was connected, and accepts ten thousand devices at once")
  func campaigns() throws {
    let temporary = try TemporaryDirectory()
    let file = RegistryFile(in: try temporary.state())
    let reached = (0..<10_000).map { number in
      var record = DeviceRecord(id: "device \(number)", lastSeen: Double(number))
      record.lastConnected = Double(number)
      record.name = "campaign"
      record.board = "door"
      record.tags = ["lab"]
      return record
    }
    _ = try file.update { registry in
      registry.connected("device 7", name: "advertised", address: nil, at: 20_000)
      registry.add(reached)
      registry.add(reached.reversed())
    }
    let kept = try #require(try file.load().content)
    #expect(kept.records.count == 10_000)
    #expect(kept["device 7"]?.name == "advertised" && kept["device 7"]?.lastConnected == 20_000)
    #expect(kept["device 7"]?.board == "door" && kept["device 8"]?.name == "campaign")
    #expect(kept["device 8"]?.tags == ["lab"])
  }

  @Test("persists after a run, and processes change it one after the other")
  func file() throws {
    let temporary = try TemporaryDirectory()
    let directory = try temporary.state()
    let first = RegistryFile(in: directory)
    let second = RegistryFile(in: directory)
    #expect(try first.load() == Recalled(content: nil, setAside: nil))
    #expect(try first.update { $0.flashed("a", Self.flashing) } == nil)
    #expect(try second.update { $0.connected("b", name: "dööр", address: nil, at: 1) } == nil)
    let registry = try #require(try first.load().content)
    #expect(registry.records.map(\.id) == ["a", "b"])
    #expect(registry["a"]?.lastFlashing == Self.flashing)
    #expect(registry["b"]?.name == "dööр")
  }

  @Test(
    "a damaged file is renamed and reported, and does not prevent the next run",
    arguments: [
      "", "{", "[]", "{\"format\":0}", "{\"format\":1}", "{\"format\":1,\"devices\":[{}]}",
      // The numbers are not valid times: too large for a calendar, or negative.
      "{\"format\":1,\"devices\":[{\"id\":\"x\",\"lastSeen\":1e17}]}",
      "{\"format\":1,\"devices\":[{\"id\":\"x\",\"lastSeen\":-1.5}]}",
      "{\"format\":1,\"devices\":[{\"id\":\"x\",\"lastSeen\":5,\"lastConnected\":253402300800}]}",
      "{\"format\":1,\"devices\":[{\"id\":\"x\",\"lastSeen\":5,\"lastFlashing\":"
        + "{\"outcome\":\"failed\",\"at\":1e300}}]}",
    ])
  func damaged(text: String) throws {
    let temporary = try TemporaryDirectory()
    let directory = try temporary.state()
    try AtomicFile(path: directory.registryPath, limit: 1000).replace(with: Array(text.utf8))
    let file = RegistryFile(in: directory)
    let aside = try file.update { $0.seen("a", name: nil, address: nil, at: 1) }
    #expect(aside == directory.registryPath + ".damaged")
    #expect(try content(#require(aside)) == text)
    #expect(try file.load().content?.records.map(\.id) == ["a"])
  }

  @Test("additions of a later version are written back unchanged")
  func unknownMembers() throws {
    let temporary = try TemporaryDirectory()
    let directory = try temporary.state()
    let text = """
      {"color":"red","devices":[{"id":"x","lastSeen":5,"shape":{"round":[true,null,1.5,-3]},\
      "lastFlashing":{"outcome":"failed","at":4,"rows":12345678901}},\
      {"id":"y","lastSeen":1}],"format":1}
      """
    try AtomicFile(path: directory.registryPath, limit: 1000).replace(with: Array(text.utf8))
    let aside = try RegistryFile(in: directory).update {
      $0.connected("x", name: "door", address: nil, at: 9)
      $0.seen("z", name: nil, address: nil, at: 2)
    }
    #expect(aside == nil)
    let kept = try content(directory.registryPath).filter { !$0.isWhitespace }
    #expect(kept.contains(#""color":"red""#))
    #expect(kept.contains(#""shape":{"round":[true,null,1.5,-3]}"#), "\(kept)")
    #expect(kept.contains(#""rows":12345678901"#))
    #expect(kept.contains(#""name":"door""#))
    #expect(kept.contains(#""id":"z""#))
  }

  @Test("a pipe at the path of the file is reported without waiting")
  func pipe() throws {
    let temporary = try TemporaryDirectory()
    let directory = try temporary.state()
    try #require(mkfifo(directory.registryPath, 0o600) == 0)
    #expect(throws: StateFault.notAFile(path: directory.registryPath)) {
      try RegistryFile(in: directory).load()
    }
  }

  @Test("a file of a later version is not changed")
  func newerFormat() throws {
    let temporary = try TemporaryDirectory()
    let directory = try temporary.state()
    let text = "{\"format\":2,\"machines\":{}}"
    try AtomicFile(path: directory.registryPath, limit: 1000).replace(with: Array(text.utf8))
    #expect(throws: StateFault.newerFormat(path: directory.registryPath, format: 2)) {
      try RegistryFile(in: directory).update { $0.seen("a", name: nil, address: nil, at: 1) }
    }
    #expect(try content(directory.registryPath) == text)
  }

  @Test("a full disk keeps the former registry")
  func fullDisk() throws {
    let temporary = try TemporaryDirectory()
    let directory = try temporary.state()
    let file = RegistryFile(in: directory)
    #expect(try file.update { $0.seen("a", name: nil, address: nil, at: 1) } == nil)
    #expect(throws: StateFault.diskFull(path: directory.registryPath)) {
      try RegistryFile(in: directory, writing: .full(after: 0))
        .update { $0.seen("b", name: nil, address: nil, at: 2) }
    }
    #expect(try file.load().content?.records.map(\.id) == ["a"])
  }

  @Test("if a process hangs with the lock, the wait of the next process ends")
  func lockHeldForEver() throws {
    let temporary = try TemporaryDirectory()
    let directory = try temporary.state()
    let lockPath = directory.registryPath + ".lock"
    let holder = try FileDescriptor(opening: lockPath, O_RDWR | O_CREAT)
    try #require(flock(holder.number, LOCK_EX) == 0)
    let impatient = FileTurn.Patience(attempts: 2, interval: .nanoseconds(1))
    let file = RegistryFile(in: directory, writing: .system, patience: impatient)
    #expect(throws: StateFault.registryBusy(path: lockPath, waited: impatient.total)) {
      try file.load()
    }
    try #require(flock(holder.number, LOCK_UN) == 0)
    #expect(try file.load().content == nil)
  }

  @Test("known devices are the connected devices, and can be forgotten")
  func knownDevices() throws {
    let directory = try TemporaryDirectory()
    let file = RegistryFile(in: StateDirectory(path: directory.path))
    _ = try file.update { registry in
      registry.seen("seen", name: "only seen", address: nil, at: 5)
      registry.connected("old", name: "door", address: nil, at: 10)
    }
    #expect(try file.devices() == [KnownDevice(id: "old", name: "door", lastConnected: 10)])
    try file.remember("new", name: nil)
    try file.remember("old", name: nil)
    let devices = try file.devices()
    #expect(devices.map(\.id) == ["old", "new"] && devices[0].name == "door")
    #expect(devices.allSatisfy { $0.lastConnected ?? 0 > 1_700_000_000 })
    try file.forget("old")
    try file.forget("unknown")
    #expect(try file.devices().map(\.id) == ["new"])
    #expect(try file.load().content?["seen"] != nil)
  }
}
