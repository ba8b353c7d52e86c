import Crypto
import OtaflashATT
import OtaflashFirmware
import OtaflashSimulation
import OtaflashTestSupport
import OtaflashUpdate
import OtaflashWire

/// A host that sends SMP messages in one or several writes, and does not check the answers.
struct SMPHost {
  static let characteristic: BluetoothUUID = "da2e7828-fbce-4e01-ae9e-261174997c48"

  var host: BareHost
  private var sequence: UInt8 = 0
  private var gathered: [UInt8] = []

  init(_ host: BareHost) { self.host = host }

  static func connected(to board: SimulatedBoard, mtu: UInt16 = 498) async throws -> SMPHost {
    var host = try await BareHost.connected(to: board, mtu: mtu)
    try await host.subscribe(characteristic)
    return SMPHost(host)
  }

  /// Sends bytes unchanged, in writes of at most the size that the ATT_MTU permits.
  mutating func send(_ bytes: [UInt8]) async throws {
    let size = host.mtu - 3
    for start in stride(from: 0, to: bytes.count, by: size) {
      try await host.command(
        Self.characteristic, Array(bytes[start..<min(start + size, bytes.count)]))
    }
  }

  /// Returns the next message, reassembled.
  mutating func next() async throws -> [UInt8] {
    while true {
      if gathered.count >= 8 {
        let size = 8 + (Int(gathered[2]) << 8 | Int(gathered[3]))
        if gathered.count >= size {
          defer { gathered.removeFirst(size) }
          return Array(gathered.prefix(size))
        }
      }
      gathered += try await host.next()
    }
  }

  mutating func ask(_ message: String) async throws -> String {
    try await send(hex(message))
    return text(try await next())
  }

  mutating func post<Request: SMPRequest>(
    _ request: Request, version: SMPVersion = .v2
  ) async throws {
    sequence &+= 1
    try await send(SMPMessage(request, sequence: sequence, version: version).encoded)
  }

  mutating func answer<Request: SMPRequest>(
    to request: Request.Type
  ) async throws -> Result<Request.Response, SMPRefusal> {
    try SMPMessage(decoding: try await next()).answer(to: request)
  }

  mutating func call<Request: SMPRequest>(
    _ request: Request, version: SMPVersion = .v2
  ) async throws -> Result<Request.Response, SMPRefusal> {
    try await post(request, version: version)
    return try await answer(to: Request.self)
  }

  // MARK: Images

  mutating func upload(
    _ image: [UInt8], from start: Int = 0, to end: Int? = nil, chunk: Int = 400,
    as announcement: SMPImage.Upload.Announcement? = nil
  ) async throws -> SMPImage.Upload.Response {
    var response = SMPImage.Upload.Response(offset: start)
    for _ in 0..<1000 {
      guard let offset = response.offset, offset < end ?? image.count else { break }
      let data = Array(image[offset..<min(offset + chunk, end ?? image.count)])
      response = try await call(
        SMPImage.Upload(
          offset: offset, data: data,
          announcement: offset == 0 ? announcement ?? Self.announce(image) : nil)
      ).get()
    }
    return response
  }

  static func announce(_ image: [UInt8]) -> SMPImage.Upload.Announcement {
    SMPImage.Upload.Announcement(size: image.count, sha: Array(SHA256.hash(data: image)))
  }

  /// Returns the slots as `slot:version flags`, with the first letters of the flags: bootable,
  /// pending, confirmed, active, permanent (P).
  mutating func state() async throws -> [String] {
    let state = try await call(SMPImage.ReadState()).get()
    return state.slots.map(Self.line)
  }

  static func line(_ slot: SMPImage.Slot) -> String {
    let letters: [(SMPImage.Slot.Flags, String)] = [
      (.bootable, "b"), (.pending, "p"), (.confirmed, "c"), (.active, "a"), (.permanent, "P"),
    ]
    let flags = letters.filter { slot.flags.contains($0.0) }.map(\.1).joined()
    return "\(slot.slot):\(slot.version) \(flags)"
  }

  mutating func setState(
    _ hash: [UInt8]?, confirm: Bool, version: SMPVersion = .v2
  ) async throws -> Result<[String], SMPRefusal> {
    try await call(SMPImage.WriteState(hash: hash, isConfirmed: confirm), version: version).map {
      ($0.state?.slots ?? []).map(Self.line)
    }
  }

  mutating func reset(bootMode: Int? = nil) async throws {
    _ = try await call(SMPOS.Reset(bootMode: bootMode)).get()
    await host.waitForEnd()
  }
}

/// An MCUboot image, byte by byte: a header of 32 bytes in a space of 64 bytes, the body, and a TLV
/// with the SHA-256 of both.
struct BootableFile {
  var version: (UInt8, UInt8, UInt16) = (1, 3, 0)
  var flags: UInt32 = 0
  var loadAddress: UInt32 = 0
  var body = makeImage(9000)

  var hashed: [UInt8] {
    var header = hex("3d b8 f3 96") + littleEndian(loadAddress) + hex("40 00 00 00")
    header += littleEndian(UInt32(body.count)) + littleEndian(flags)
    header += [version.0, version.1, UInt8(version.2 & 0xFF), UInt8(version.2 >> 8)]
    return header + [UInt8](repeating: 0, count: 64 - header.count) + body
  }

  var hash: [UInt8] { Array(SHA256.hash(data: hashed)) }

  var bytes: [UInt8] { hashed + hex("07 69 28 00 10 00 20 00") + hash }
}
