import OtaflashSimulation
import Testing

@testable import OtaflashFirmware

/// Tests of HEX files for the micro:bit.
@Suite struct MicrobitImageTests {
  /// The Universal Hex of the specification's example, shortened: its two programs have no script.
  private static let universal = """
    :020000040001F9
    :0400000A9900C0DEBB
    :108000000040002021810100010203040506070849
    :0000000BF5
    :020000040001F9
    :0400000A9903C0DEB8
    :10C0000D0000022021C101000102030405060708FA
    :2000000CFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF4
    :0000000BF5
    :00000001FF

    """

  private static func decode(_ text: String) throws -> FirmwareImage {
    try FirmwareImage.decode(name: "program.hex", bytes: Array(text.utf8))
  }

  @Test func aUniversalHexHasAProgramForEachBoard() throws {
    let image = try Self.decode(Self.universal)
    let programs = try #require(image.microbit?.programs)
    #expect(programs.map(\.board) == [.v1, .v2])
    #expect(programs.map(\.start) == [0x1_8000, 0x1_C000])
    #expect(programs.allSatisfy { $0.script == nil && $0.startsWithVectors })
    #expect(image.bytes == programs[1].application && image.format == .intelHex)
  }

  @Test(arguments: [MicrobitBoard.v1, .v2])
  func theMarkOfMakeCodeIsFoundAtTheStartOfAPage(_ board: MicrobitBoard) throws {
    var settings = MicrobitSettings()
    settings.board = board
    let image = try FirmwareImage.decode(
      name: "program.hex",
      bytes: SampleImage.microbit([UInt8](repeating: 9, count: 1000), for: settings))
    let program = try #require(image.microbit?.program(for: board))
    let script = try #require(program.script)
    #expect(image.microbit?.programs.count == 1)
    #expect(script.origin == .makeCode && script.area.lowerBound.isMultiple(of: board.pageSize))
    #expect(program.bytes(of: script).starts(with: MicrobitScript.mark))
    #expect(script.area.upperBound == program.start + program.application.count)
    #expect(script.scriptHash?.count == 8)
  }

  @Test func theTableOfMicroPythonIsFound() throws {
    var settings = MicrobitSettings()
    settings.editor = .python
    let image = try FirmwareImage.decode(
      name: "program.hex",
      bytes: SampleImage.microbit([UInt8](repeating: 9, count: 1000), for: settings))
    let script = try #require(image.microbit?.program(for: .v2)?.script)
    #expect(script.origin == .microPython && script.scriptHash == nil)
    #expect(script.area.count == 6 * 4096)
    // The CRC32 of "sample runtime, same", computed with zlib.
    #expect(script.runtimeHash.count == 8 && script.runtimeHash.suffix(4) == [0, 0, 0, 0])
  }

  /// Editors store the source of a program after its end, or at addresses outside of the flash.
  @Test func dataOutsideOfTheFlashIsIgnored() throws {
    let plain = String(
      decoding: SampleImage.microbit([1, 2, 3], for: MicrobitSettings()), as: UTF8.self)
    let source = ":020000042000DA\n:1000000041140E2FB82FA2BB0102030405060708F6\n:00000001FF\n"
    let image = try Self.decode(plain.replacing(":00000001FF\n", with: source))
    #expect(try image == Self.decode(plain))
  }

  @Test func otherHexFilesAreNotForTheMicrobit() throws {
    let image = try Self.decode(":1000000000040020000102030405060708090A0B8A\n:00000001FF\n")
    #expect(image.microbit == nil)
  }

  @Test(arguments: [
    (":020000040001F9\n:0400000A9900C0DEBB\n:0000000BF5\n", 3),
    (":0400000A9900C0DEBB\n:108000000040002021810100010203040506070800\n:00000001FF\n", 2),
    (":0100000A995C\n:00000001FF\n", 1), (":0400000A9900C0DEBB\n:00000009F7\n", 2),
  ])
  func aDamagedUniversalHexIsRejectedWithItsLine(_ text: String, _ line: Int) {
    do throws(FirmwareFault) {
      let image = try FirmwareImage.decode(name: "a.hex", bytes: Array(text.utf8))
      Issue.record("\(image.bytes.count) bytes were accepted")
    } catch {
      #expect(error.remedy == .lookAtLine(line), "\(error)")
      #expect(!error.description.isEmpty)
    }
  }

  @Test func aTableThatIsDamagedIsNotUsed() {
    let sample = SampleImage.microbitApplication(editor: .python)
    // The table ends with the runtime, whose last row describes the table.
    let header = 8 * 4096 - 16
    let found = MicrobitProgram(board: .v2, start: 0x1_C000, application: sample)
    #expect(found.script != nil)
    for offset in header..<header + 12 {
      var bytes = sample
      bytes[offset] ^= 0x55
      let program = MicrobitProgram(board: .v2, start: 0x1_C000, application: bytes)
      #expect(program.script == nil, "byte \(offset)")
    }
  }
}
