import FoundationEssentials
import OtaflashFirmware
import Testing

@Suite("Firmware samples")
struct SampleTests {
  private static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
    .appending(path: "firmware-samples")

  private static func sample(_ name: String) throws -> [UInt8] {
    try [UInt8](Data(contentsOf: folder.appending(path: name)))
  }

  /// Returns the cells of the README's table, one array for each sample.
  private static func rows() throws -> [[String]] {
    String(decoding: try sample("README.md"), as: UTF8.self)
      .split(separator: "\n")
      .filter { $0.hasPrefix("| `") }
      .map { row in
        row.split(separator: "|").map { cell in cell.filter { $0 != "`" && !$0.isWhitespace } }
      }
  }

  @Test("match the table in the README")
  func table() throws {
    let rows = try Self.rows()
    #expect(rows.count == 7)
    for row in rows where row[1] != "-" {
      let sidecar = ImageIdentity(version: FirmwareVersion(row[3]), hardware: HardwareID(row[4]))
      let image = try FirmwareImage.decode(
        name: row[0], bytes: Self.sample(row[0]),
        sidecar: row[0].hasPrefix("plain") ? sidecar : nil)
      #expect(String(image.bytes.count) == row[1], "\(row[0])")
      #expect(image.crc32 == UInt32(row[2], radix: 16), "\(row[0])")
      #expect(image.version?.description == row[3], "\(row[0])")
      #expect(image.hardware?.description == row[4], "\(row[0])")
    }
  }

  @Test("the HEX sample keeps its addresses")
  func sensor() throws {
    let image = try FirmwareImage.decode(name: "-", bytes: Self.sample("sensor-1.1.0.hex"))
    #expect(
      image.layout
        == AddressLayout(
          lowestAddress: 0x0800_A000, start: .linear(0x0800_A401), dataCount: 45056))
    #expect(image.bytes[40960..<45056].allSatisfy { $0 == 0xFF })
  }

  @Test("the damaged sample is refused with its line")
  func damaged() throws {
    let text = try Self.sample("damaged-1.4.0.hex")
    let fault = #expect(throws: FirmwareFault.self) {
      try FirmwareImage.decode(name: "damaged-1.4.0.hex", bytes: text)
    }
    guard case .malformed(.intelHex(.line(100, .wrongChecksum))) = fault else {
      Issue.record("\(String(describing: fault))")
      return
    }
  }

  @Test("the C header computes the same CRC32 as the encoder")
  func header() throws {
    let text = String(decoding: try Self.sample("otaflash_descriptor.h"), as: UTF8.self)
    let zero = text.firstMatch(of: /\(0x([0-9A-F]{8})u \^/).flatMap { UInt32($0.1, radix: 16) }
    let terms = text.matches(of: /OTAFLASH_BIT\(([hv]), (\d+), 0x([0-9A-F]{8})\)/)
    #expect(terms.count == 64)
    for (hardware, version) in [
      (0xA001, FirmwareVersion(1, 3, 0)), (UInt32.max, FirmwareVersion(255, 255, 65535)),
      (0x8000_0001, FirmwareVersion(1, 128, 0x8001)),
    ] {
      let encoded = ImageDescriptor(version: version, hardware: HardwareID(hardware)).encoded
      func word(_ at: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(encoded[at + $1]) << (8 * UInt32($1)) }
      }
      let crc = try terms.reduce(#require(zero)) { crc, term in
        let bit = try #require(UInt32(term.2))
        let change = try #require(UInt32(term.3, radix: 16))
        return crc ^ (word(term.1 == "h" ? 12 : 16) >> bit & 1) * change
      }
      #expect(crc == word(28))
    }
  }
}
