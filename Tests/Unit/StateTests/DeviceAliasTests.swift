import Foundation
import Testing

@testable import OtaflashState

/// Tests of device aliases: the valid names, their assignment to devices, and their storage.
@Suite struct DeviceAliasTests {
  @Test(arguments: ["door-01", "a", "7", "Tür_2.b", String(repeating: "x", count: 64)])
  func validNamesAreAccepted(_ text: String) throws {
    #expect(try DeviceAlias(text).description == text)
  }

  /// A name that has another meaning as a DEVICE argument, has other characters, or is too long, is
  /// not a valid alias.
  @Test(arguments: [
    "", "last", "LAST", "sim", "unix", "name", "sim:", "unix:/d", "name:door", "C0:FF:EE:00:00:01",
    "-door", ".door", "a b", "a/b", "a\u{1B}", "a\n", String(repeating: "x", count: 65),
  ])
  func otherTextsAreRefused(_ text: String) {
    #expect(throws: DeviceAlias.Fault.self) { try DeviceAlias(text) }
  }

  @Test func anAliasAndADeviceBelongToEachOther() throws {
    var aliases = DeviceAliases()
    let (door, gate) = (try DeviceAlias("door"), try DeviceAlias("gate"))
    #expect(try aliases.name("A", door) == nil)
    #expect(throws: DeviceAliases.Fault.taken(by: "A")) { try aliases.name("B", door) }
    #expect(try aliases.name("A", door) == nil)
    #expect(try aliases.name("A", gate) == door)
    #expect(aliases[door] == nil && aliases[gate] == "A" && aliases.alias(of: "A") == gate)
    #expect(aliases.remove(gate) == "A" && aliases.remove(gate) == nil && aliases.all.isEmpty)
  }

  @Test func aliasesAreStored() throws {
    let home = FileManager.default.temporaryDirectory.appending(path: "aliases-\(UUID())")
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: home) } }
    let directory = try StateDirectory.locate(environment: ["XDG_STATE_HOME": home.path])
    let file = AliasFile(in: directory)
    // Reading does not create any file.
    #expect(try file.load().content == nil)
    #expect(!FileManager.default.fileExists(atPath: home.path))
    try directory.create()
    let door = try DeviceAlias("door")
    _ = try file.update { aliases in Result { try aliases.name("sim:smp", door) } }
    #expect(try file.load().content?[door] == "sim:smp")
    // Members that a later version wrote survive a change by this version.
    let url = URL(filePath: directory.aliasesPath)
    let text = try String(contentsOf: url, encoding: .utf8)
    try text.replacing("\"format\"", with: "\"later\" : 5, \"format\"")
      .write(to: url, atomically: true, encoding: .utf8)
    _ = try file.update { $0.remove(door) }
    #expect(try String(contentsOf: url, encoding: .utf8).contains("\"later\""))
    // Invalid content is set aside.
    try #"{"format":1,"aliases":[{"alias":"last","device":"A"}]}"#
      .write(to: url, atomically: true, encoding: .utf8)
    #expect(try file.load().setAside != nil)
  }

  /// Tests of the device that the user chose last. Records of earlier versions must be readable.
  @Test func theLastChoiceIsRemembered() throws {
    var registry = DeviceRegistry()
    registry.seen("A", name: nil, address: nil, at: 5)
    registry.chosen("A", at: 6)
    registry.chosen("B", at: 7)
    registry.seen("A", name: nil, address: nil, at: 9)
    #expect(registry.lastChosen?.id == "B")
    #expect(registry["A"]?.lastSeen == 9 && registry["A"]?.lastConnected == nil)
    let old = Data(#"{"id":"A","lastSeen":1}"#.utf8)
    #expect(try JSONDecoder().decode(DeviceRecord.self, from: old).lastChosen == nil)
  }
}
