import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation

/// A host that implements the OTA service in raw PDUs without checks. It is sufficient to drive a
/// board without the production code.
struct OTAHost {
  enum Fault: Error, Equatable {
    case linkLost(LinkLoss)
    case refused(ATTErrorCode)
    case result(UInt8)
  }

  struct Status: Equatable {
    var state: UInt8
    var error: UInt8
    var window: Int
    var next: Int
    var crc32: UInt32
    var durable: Int

    init(_ bytes: [UInt8]) {
      state = bytes[0]
      error = bytes[1]
      window = Int(bytes[2]) | Int(bytes[3]) << 8
      next = Int(littleEndian(bytes[4..<8]))
      crc32 = littleEndian(bytes[8..<12])
      durable = Int(littleEndian(bytes[12..<16]))
    }
  }

  // The attribute table of the board: GAP at 1…5, Device Information at 6…18, the OTA service at 19
  // and above.
  static let control = AttributeHandle(21)
  static let data = AttributeHandle(24)
  static let status = AttributeHandle(26)

  let link: any Link
  private(set) var mtu = 23
  private(set) var statuses: [Status] = []

  init(_ link: any Link) { self.link = link }

  static func connected(to board: SimulatedBoard, mtu: UInt16 = 247) async throws -> OTAHost {
    var host = OTAHost(try await board.dial())
    guard
      case .exchangeMTU(let server) = try await host.request(.exchangeMTU(clientReceiveMTU: mtu))
    else { throw Fault.refused(.unlikelyError) }
    host.mtu = Int(min(mtu, server))
    _ = try await host.request(.write(AttributeHandle(22), value: [2, 0]))
    _ = try await host.request(.write(AttributeHandle(27), value: [1, 0]))
    return host
  }

  mutating func request(_ request: ATTRequest) async throws -> ATTResponse {
    try await send(.request(request))
    while true {
      guard case .response(let response) = try await receive() else { continue }
      if case .error(let error) = response { throw Fault.refused(error.code) }
      return response
    }
  }

  /// Performs one control operation. Returns the answer's payload; throws the result if it is not
  /// 0, or the result FF if the indication answers another operation or is too short.
  mutating func operate(_ opcode: UInt8, _ payload: [UInt8] = []) async throws -> [UInt8] {
    _ = try await request(.write(Self.control, value: [opcode] + payload))
    while true {
      guard case .indication(_, let answer) = try await receive() else { continue }
      try await send(.confirmation)
      guard answer.count >= 2, answer[0] == opcode | 0x80 else { throw Fault.result(0xFF) }
      guard answer[1] == 0 else { throw Fault.result(answer[1]) }
      return Array(answer.dropFirst(2))
    }
  }

  mutating func begin(_ image: [UInt8], version: FirmwareVersion, flags: UInt8 = 0) async throws
    -> Int
  {
    let crc = CRC32.checksum(image)
    let payload =
      [flags] + bytes(UInt32(image.count)) + bytes(crc)
      + [version.major, version.minor, UInt8(version.patch & 0xFF), UInt8(version.patch >> 8)]
      + bytes(0xA001)
    return Int(littleEndian(try await operate(0x06, payload)[0..<4]))
  }

  /// Sends the image, starting at `offset`, with write commands within the window.
  mutating func upload(_ image: [UInt8], from offset: Int) async throws {
    guard case .read(let bytes) = try await request(.read(Self.status)) else { return }
    statuses.append(Status(bytes))
    var offset = offset
    while offset < image.count {
      let count = min(mtu - 7, image.count - offset)
      let limit = statuses[statuses.count - 1].next + statuses[statuses.count - 1].window
      if offset + count <= limit {
        let value = self.bytes(UInt32(offset)) + image[offset..<offset + count]
        try await send(.writeCommand(Self.data, value: value))
        offset += count
      } else {
        _ = try await receive()
      }
    }
    while statuses[statuses.count - 1].next < image.count { _ = try await receive() }
  }

  /// Sends the bytes, starting at `offset`, with write commands; they must fit the window.
  mutating func write(_ bytes: [UInt8], from offset: Int) async throws {
    for start in stride(from: offset, to: bytes.count, by: mtu - 7) {
      let piece = bytes[start..<min(start + mtu - 7, bytes.count)]
      try await send(.writeCommand(Self.data, value: self.bytes(UInt32(start)) + piece))
    }
  }

  /// Performs the complete update, from BEGIN to the device's reset.
  mutating func flash(_ image: [UInt8], version: FirmwareVersion) async throws {
    let start = try await begin(image, version: version)
    try await upload(image, from: start)
    _ = try await operate(0x08)
    _ = try await operate(0x09)
    await waitForEnd()
  }

  mutating func waitForEnd() async {
    while true {
      do { _ = try await receive() } catch { return }
    }
  }

  private func send(_ pdu: ATTPDU) async throws {
    do throws(LinkLoss) { try await link.send(pdu.encoded) } catch { throw Fault.linkLost(error) }
  }

  mutating func receive() async throws -> ATTPDU {
    let bytes: [UInt8]
    do throws(LinkLoss) { bytes = try await link.receive() } catch { throw Fault.linkLost(error) }
    let pdu = try ATTPDU(decoding: bytes)
    if case .notification(Self.status, let value) = pdu { statuses.append(Status(value)) }
    return pdu
  }

  private func bytes(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}

func littleEndian(_ bytes: some Collection<UInt8>) -> UInt32 {
  bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
}

/// Runs `body` with a powered board in virtual time.
func withBoard<Value: Sendable>(
  _ profile: String, storage: (any FlashMedium)? = nil,
  _ body: @escaping @Sendable (SimulatedBoard, VirtualClock) async throws -> Value
) throws -> Value {
  try withBoard(SimulationProfile(parsing: profile), storage: storage, body)
}

func withBoard<Value: Sendable>(
  _ profile: SimulationProfile, storage: (any FlashMedium)? = nil,
  _ body: @escaping @Sendable (SimulatedBoard, VirtualClock) async throws -> Value
) throws -> Value {
  let result = try VirtualTimeline().run(limit: .seconds(3600)) {
    clock -> Result<Value, any Error> in
    do {
      let board = try SimulatedBoard(profile: profile, storage: storage, clock: clock)
      return try await withThrowingTaskGroup { group in
        group.addTask { _ = await board.run() }
        defer { group.cancelAll() }
        return .success(try await body(board, clock))
      }
    } catch {
      return .failure(error)
    }
  }
  return try result.get()
}

func makeImage(_ count: Int) -> [UInt8] {
  var random = SeededRandom(seed: 42)
  return random.bytes(count: count)
}
