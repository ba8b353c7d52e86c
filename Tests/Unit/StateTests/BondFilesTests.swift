import Foundation
import OtaflashBlueZ
import Synchronization
import Testing

@testable import OtaflashState

@Suite struct BondFilesTests {
  static func bond(_ device: String) throws -> Bond {
    let address = try #require(BluetoothAddress(device))
    let key = try #require(
      LongTermKey(
        device: address, kind: .secureUnauthenticated, isForCentral: false, size: 16,
        diversifier: 0, random: 0, value: [UInt8](0x10...0x1F)))
    return try #require(Bond(longTermKeys: [key]))
  }

  static func adapter(_ last: String = "00") throws -> BluetoothAddress {
    try #require(BluetoothAddress("00:AA:01:01:00:" + last))
  }

  /// Runs `body` with a new state directory and the store in it.
  static func withStore(
    setAside: @escaping @Sendable (String) -> Void = { _ in },
    _ body: (BondFiles, StateDirectory) throws -> Void
  ) throws {
    let temporary = try TemporaryDirectory()
    defer { extendLifetime(temporary) }
    let directory = try StateDirectory.locate(environment: ["XDG_STATE_HOME": temporary.path])
    try directory.create()
    try body(
      BondFiles(in: directory, writing: .system, now: { 1_700_000_000 }, setAside), directory)
  }

  @Test func aBondIsPrivateAndCanBeRemoved() throws {
    try Self.withStore { store, directory in
      let (home, other) = (try Self.adapter(), try Self.adapter("07"))
      #expect(try store.bonds(of: home) == [])
      let one = try Self.bond("C0:FF:EE:00:00:01")
      try store.keep(one, of: home)
      try store.keep(one, of: other)
      #expect(try store.bonds(of: home) == [one])

      let names = try FileManager.default.contentsOfDirectory(atPath: directory.bondsPath)
      #expect(names.count == 2)
      for name in names {
        let attributes = try FileManager.default.attributesOfItem(
          atPath: directory.bondsPath + "/" + name)
        #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
      }
      let folder = try FileManager.default.attributesOfItem(atPath: directory.bondsPath)
      #expect(folder[.posixPermissions] as? Int == 0o700)

      #expect(try store.forget(one.device, of: home))
      #expect(try !store.forget(one.device, of: home))
      #expect(try store.bonds(of: home) == [])
      #expect(try store.bonds(of: other).count == 1)
    }
  }

  @Test func aBondFromAnEarlierReleaseIsRead() throws {
    try Self.withStore { store, directory in
      let file = """
        {"format":1,"bond":{"adapter":"00:AA:01:01:00:00","at":1,"device":"C0:FF:EE:00:00:01",\
        "longTermKeys":[{"kind":"secure-connections","isForCentral":false,"size":16,\
        "diversifier":0,"random":"0000000000000000",\
        "value":"101112131415161718191a1b1c1d1e1f"}]}}
        """
      try Data(file.utf8).write(to: URL(filePath: directory.bondsPath + "/one.json"))
      #expect(try store.bonds(of: Self.adapter()) == [Self.bond("C0:FF:EE:00:00:01")])
    }
  }

  @Test(arguments: ["{", #"{"format":1,"bond":{"adapter":"x","at":1,"device":"door"}}"#])
  func aDamagedFileIsSetAsideAndTheOthersAreRead(_ damage: String) throws {
    let aside = SetAside()
    let report: @Sendable (String) -> Void = { aside.report($0) }
    try Self.withStore(setAside: report) { store, directory in
      try store.keep(Self.bond("C0:FF:EE:00:00:01"), of: Self.adapter())
      let damaged = directory.bondsPath + "/a.json"
      try Data(damage.utf8).write(to: URL(filePath: damaged))
      #expect(try store.bonds(of: Self.adapter()).count == 1)
      #expect(aside.paths == [damaged + ".damaged"])
    }
  }
}

/// The reported paths, in order.
private final class SetAside: Sendable {
  private let reported = Mutex<[String]>([])

  var paths: [String] { reported.withLock { $0 } }

  func report(_ path: String) { reported.withLock { $0.append(path) } }
}
