import OtaflashFirmware

/// Builds GBL files tag by tag, including invalid files.
struct GBLSample {
  var bytes: [UInt8] = []

  init() {}

  /// Starts a file with a header.
  init(version: UInt32 = 0x0300_0000, type: UInt32 = 0) {
    add(0x03A6_17EB, words: [version, type])
  }

  mutating func add(_ id: UInt32, _ payload: [UInt8] = []) {
    bytes += Self.little(id) + Self.little(UInt32(payload.count)) + payload
  }

  mutating func add(_ id: UInt32, words: [UInt32], _ rest: [UInt8] = []) {
    add(id, words.flatMap(Self.little) + rest)
  }

  mutating func addApplication(_ version: UInt32 = 1) {
    add(0xF40A_0AF4, words: [0x20, version, 0], [UInt8](repeating: 0, count: 16))
  }

  mutating func addProgram(_ data: [UInt8], at address: UInt32 = 0x4000) {
    add(0xFE01_01FE, words: [address], data)
  }

  /// Adds an end tag with the correct CRC32, changed by `damage`.
  mutating func end(damage: UInt32 = 0) {
    bytes += Self.little(0xFC04_04FC) + Self.little(4)
    bytes += Self.little(CRC32.checksum(bytes) ^ damage)
  }

  static func little(_ word: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) }
  }

  /// A correct file with the data in one program tag.
  static func file(_ data: [UInt8], version: UInt32 = 1) -> [UInt8] {
    var sample = GBLSample(type: 0)
    sample.addApplication(version)
    sample.addProgram(data)
    sample.end()
    return sample.bytes
  }
}
