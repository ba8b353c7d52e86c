import Crypto
import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

@testable import OtaflashUpdate

/// The events of an update, in order.
final class EventLog: Sendable {
  private let events = Mutex<[UpdateEvent]>([])
  private let pdus = Mutex<[TracingLink.Crossing]>([])

  /// Every PDU that the host sent or received, including the packets that were lost.
  var crossings: [TracingLink.Crossing] { pdus.withLock { $0 } }
  func note(_ crossing: TracingLink.Crossing) { pdus.withLock { $0.append(crossing) } }

  func note(_ event: UpdateEvent) { events.withLock { $0.append(event) } }
  var all: [UpdateEvent] { events.withLock { $0 } }

  /// The last report of the device.
  var device: DeviceReport? {
    all.reversed().lazy.compactMap { if case .device(let report) = $0 { report } else { nil } }
      .first
  }

  var offsets: [Int] {
    all.compactMap { event in
      if case .transferBegan(let offset, _, _) = event { offset } else { nil }
    }
  }

  /// The reasons for the restarts of the device by the host, in order.
  var restarts: [String] {
    all.compactMap { if case .restarted(let reason, _, _) = $0 { reason } else { nil } }
  }

  var losses: Int { all.count { if case .linkLost = $0 { true } else { false } } }

  var rewinds: Int {
    all.count { event in
      if case .rewound = event { true } else { false }
    }
  }
}

/// The results of updates of a simulated Nordic device, and the final state of the device.
struct NordicOutcome: Sendable {
  let results: [Result<UpdateResult, UpdateFault>]
  let log: EventLog
  let runningImage: [UInt8]
  let elapsed: Duration

  var last: Result<UpdateResult, UpdateFault> { results[results.count - 1] }
}

/// Sends the images to one new device, each image in a separate update, in virtual time.
///
/// - Parameters:
///   - cancelAfter: the time after which the first update is cancelled.
///   - losing: selects the packets that never reach the device, by their number from 1 and their
///   bytes.
///   - late: the delay of each timer of the host and of the device.
///   - stall: the length of the repeated stalls of the process.
func flash(
  _ images: [FirmwareImage], onto profile: String, cancelAfter: Duration? = nil,
  late: Duration = .zero, stall: Duration = .zero,
  _ adjust: (inout UpdateOptions) -> Void = { _ in },
  losing: (@Sendable (Int, [UInt8]) -> Bool)? = nil
) throws -> NordicOutcome {
  let packages = images.map {
    FirmwarePackage(name: $0.name, kind: .nordicSecureDFU, parts: [$0])
  }
  return try flash(
    packages: packages, onto: profile, cancelAfter: cancelAfter, late: late, stall: stall,
    adjust,
    losing: losing)
}

/// Sends complete packages instead of single images.
func flash(
  packages: [FirmwarePackage], onto profile: String, cancelAfter: Duration? = nil,
  late: Duration = .zero, stall: Duration = .zero,
  _ adjust: (inout UpdateOptions) -> Void = { _ in },
  losing: (@Sendable (Int, [UInt8]) -> Bool)? = nil
) throws -> NordicOutcome {
  var options = UpdateOptions()
  options.sendsAnyway = true
  adjust(&options)
  let (profile, settings) = (try SimulationProfile(parsing: profile), options)
  let timeline = VirtualTimeline()
  let log = EventLog()
  let counter = PacketCounter()
  let clock = LateClock(base: timeline.clock, lateness: late, stall: stall)
  let board = try SimulatedBoard(profile: profile, clock: clock)
  let results = try timeline.run(limit: .seconds(7200)) { _ in
    await withTaskGroup(of: [Result<UpdateResult, UpdateFault>]?.self) { group in
      group.addTask {
        await board.run()
        return nil
      }
      group.addTask {
        let dialer = Dialer(at: { (place) async throws(ConnectFault) -> any Link in
          let link = try await board.dial(at: place)
          guard let losing else { return link }
          return LosingLink(link) { bytes in
            losing(counter.next(), bytes)
          }
        }).tracing(on: clock) { log.note($0) }
        var results: [Result<UpdateResult, UpdateFault>] = []
        for (index, package) in packages.enumerated() {
          let update = FirmwareUpdate(package: package, options: settings) { log.note($0) }
          let limit = index == 0 ? cancelAfter : nil
          results.append(
            await outcome(before: limit, on: clock) { () async throws(UpdateFault) in
              try await update.run(on: dialer, clock: clock)
            })
        }
        return results
      }
      var results: [Result<UpdateResult, UpdateFault>] = []
      while results.isEmpty, let finished = await group.next() { results = finished ?? [] }
      group.cancelAll()
      return results
    }
  }
  return NordicOutcome(
    results: results, log: log, runningImage: try board.runningImage(),
    elapsed: timeline.clock.now.elapsed)
}

/// - Parameter limit: the time at which the update is cancelled; the final fault is returned.
func outcome<Value: Sendable>(
  before limit: Duration?, on clock: any LinkClock,
  _ update: @escaping @Sendable () async throws(UpdateFault) -> Value
) async -> Result<Value, UpdateFault> {
  await withTaskGroup(of: Result<Value, UpdateFault>?.self) { group in
    group.addTask {
      do throws(UpdateFault) {
        return .success(try await update())
      } catch {
        return .failure(error)
      }
    }
    if let limit {
      group.addTask {
        _ = await clock.pause(for: limit)
        return nil
      }
    }
    for await part in group {
      group.cancelAll()
      if let part { return part }
    }
    preconditionFailure("the update ended without a result")
  }
}

/// Counts the packets from 1.
final class PacketCounter: Sendable {
  private let count = Mutex(0)
  func next() -> Int {
    count.withLock {
      $0 += 1
      return $0
    }
  }
}

/// The host's end of a link on which some Write Commands are lost.
final class LosingLink: Link {
  private let base: any Link
  private let loses: @Sendable ([UInt8]) -> Bool

  init(_ base: any Link, _ loses: @escaping @Sendable ([UInt8]) -> Bool) {
    (self.base, self.loses) = (base, loses)
  }

  var maximumPDUSize: Int { base.maximumPDUSize }
  var facts: LinkFacts { base.facts }
  var security: AttributeSecurity { base.security }

  func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault) {
    try await base.raiseSecurity(to: wanted)
  }

  func send(_ pdu: [UInt8]) async throws(LinkLoss) {
    if pdu.first == ATTOpcode.writeCommand.rawValue, loses(Array(pdu.dropFirst(3))) { return }
    try await base.send(pdu)
  }

  func receive() async throws(LinkLoss) -> [UInt8] { try await base.receive() }

  func close() { base.close() }
}

// MARK: - Packages

/// Bytes that depend on `seed`.
func firmware(_ size: Int, seed: UInt64 = 1) -> [UInt8] {
  var random = SeededRandom(seed: seed)
  return (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
}

/// The same bytes with a descriptor, in which the simulated application finds its version.
func firmware(_ size: Int, _ version: FirmwareVersion) -> [UInt8] {
  var bytes = firmware(size)
  let descriptor = ImageDescriptor(version: version, hardware: nil).encoded
  bytes.replaceSubrange(512..<512 + descriptor.count, with: descriptor)
  return bytes
}

/// The content of an init packet of Secure DFU.
struct InitCommand {
  var firmwareVersion = 2
  var hardwareVersion = 52
  var softDevices = [0xB7]
  var type = 0
  var hashedBytes: [UInt8]?
  var isSigned = true
  /// Whether a bit of the signature is wrong.
  var isDamaged = false

  /// Protocol buffers, signed with the key that simulated bootloaders know.
  func packet(for firmware: [UInt8], _ sizes: NordicSizes) -> [UInt8] {
    let digest = Array(SHA256.hash(data: hashedBytes ?? firmware)).reversed()
    let hash = Self.field(1, 3) + Self.field(2, Array(digest))
    var command = Self.field(1, firmwareVersion) + Self.field(2, hardwareVersion)
    command += Self.field(3, softDevices.flatMap(Self.varint)) + Self.field(4, type)
    command += Self.field(5, Int(sizes.softdevice)) + Self.field(6, Int(sizes.bootloader))
    command += Self.field(7, Int(sizes.application)) + Self.field(8, hash)
    let inner = Self.field(1, Self.field(1, 1) + Self.field(2, command))
    guard isSigned else { return inner }
    var signature = SampleKey.signature(of: command)
    if isDamaged { signature[0] ^= 1 }
    return Self.field(2, inner + Self.field(2, 0) + Self.field(3, signature))
  }

  private static func varint(_ value: Int) -> [UInt8] {
    var (rest, bytes) = (value, [UInt8]())
    repeat {
      bytes.append(UInt8(rest & 0x7F) | (rest > 0x7F ? 0x80 : 0))
      rest >>= 7
    } while rest > 0
    return bytes
  }

  private static func field(_ number: Int, _ value: Int) -> [UInt8] {
    varint(number << 3) + varint(value)
  }

  private static func field(_ number: Int, _ bytes: [UInt8]) -> [UInt8] {
    varint(number << 3 | 2) + varint(bytes.count) + bytes
  }
}

/// A part of a Secure DFU package.
func secure(
  _ bytes: [UInt8], _ command: InitCommand = InitCommand(), role: NordicRole = .application,
  version: FirmwareVersion? = nil
) throws -> FirmwareImage {
  let size = UInt32(bytes.count)
  let sizes =
    switch role {
    case .application: NordicSizes(application: size)
    case .softdevice: NordicSizes(softdevice: size)
    case .bootloader: NordicSizes(bootloader: size)
    case .softdeviceAndBootloader:
      NordicSizes(softdevice: size / 2, bootloader: size - size / 2)
    }
  let packet = command.packet(for: bytes, sizes)
  return FirmwareImage(
    name: "app.bin", format: .binary, bytes: bytes, version: version, hardware: nil,
    content: .nordic(
      NordicInitPacket(
        bytes: packet, role: role, sizes: sizes,
        command: .secure(try SecureInitPacket(decoding: packet)))))
}

/// An application of a legacy DFU package.
func legacy(
  _ bytes: [UInt8], deviceType: UInt16 = 1, checksum: UInt16? = nil,
  version: FirmwareVersion? = nil
) throws -> FirmwareImage {
  let words: [UInt16] = [
    deviceType, 1, 2, 0, 1, 0x64, checksum ?? crc16(bytes),
  ]
  let packet = words.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
  return FirmwareImage(
    name: "app.bin", format: .binary, bytes: bytes, version: version, hardware: nil,
    content: .nordic(
      NordicInitPacket(
        bytes: packet, role: .application, sizes: NordicSizes(application: UInt32(bytes.count)),
        command: .legacy(try LegacyInitPacket(decoding: packet)))))
}

/// The CRC-16 with the polynomial 0x1021 and the initial value 0xFFFF.
func crc16(_ bytes: [UInt8]) -> UInt16 {
  bytes.reduce(0xFFFF) { crc, byte in
    (0..<8).reduce(crc ^ UInt16(byte) << 8) { crc, _ in
      crc & 0x8000 == 0 ? crc << 1 : crc << 1 ^ 0x1021
    }
  }
}
