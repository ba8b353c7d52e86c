import Foundation
import Testing

@testable import OtaflashFleet

@Suite struct BondStoreTests {
  static func record(_ device: String, adapter: String = "00:AA:01:01:00:00") -> BondRecord {
    BondRecord(
      adapter: adapter, device: device,
      longTermKeys: [
        BondRecord.Key(
          kind: "secure-connections", isForCentral: false, size: 16, diversifier: 0,
          random: "0000000000000000", value: "101112131415161718191a1b1c1d1e1f")
      ], identityResolvingKey: nil, at: 1_700_000_000)
  }

  @Test func aBondIsKeptForItsOwnerAloneAndForgotten() throws {
    let temporary = try TemporaryDirectory()
    let directory = try StateDirectory.locate(environment: ["XDG_STATE_HOME": temporary.path])
    try directory.create()
    let store = BondStore(in: directory)
    #expect(try store.bonds(of: "00:AA:01:01:00:00").bonds == [])
    let one = Self.record("C0:FF:EE:00:00:01")
    try store.keep(one)
    try store.keep(Self.record("C0:FF:EE:00:00:01", adapter: "00:AA:01:01:00:07"))
    #expect(try store.bonds(of: "00:AA:01:01:00:00").bonds == [one])

    let names = try FileManager.default.contentsOfDirectory(atPath: directory.bondsPath)
    #expect(names.count == 2)
    for name in names {
      let attributes = try FileManager.default.attributesOfItem(
        atPath: directory.bondsPath + "/" + name)
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
    }
    let folder = try FileManager.default.attributesOfItem(atPath: directory.bondsPath)
    #expect(folder[.posixPermissions] as? Int == 0o700)

    #expect(try store.forget("C0:FF:EE:00:00:01", of: "00:AA:01:01:00:00"))
    #expect(try !store.forget("C0:FF:EE:00:00:01", of: "00:AA:01:01:00:00"))
    #expect(try store.bonds(of: "00:AA:01:01:00:00").bonds == [])
    #expect(try store.bonds(of: "00:AA:01:01:00:07").bonds.count == 1)
  }

  @Test func aDamagedFileIsSetAsideAndTheOthersAreRead() throws {
    let temporary = try TemporaryDirectory()
    let directory = try StateDirectory.locate(environment: ["XDG_STATE_HOME": temporary.path])
    try directory.create()
    let store = BondStore(in: directory)
    try store.keep(Self.record("C0:FF:EE:00:00:01"))
    let damaged = directory.bondsPath + "/a.json"
    try Data("{".utf8).write(to: URL(filePath: damaged))
    let (bonds, setAside) = try store.bonds(of: "00:AA:01:01:00:00")
    #expect(bonds.count == 1)
    #expect(setAside == [damaged + ".damaged"])
  }
}
