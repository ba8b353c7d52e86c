import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import Synchronization
import Testing

@testable import OtaflashSimulation
@testable import OtaflashUpdate

/// Tests of devices whose file service violates its protocol. Each transfer ends with a clear
/// error, and never with a success that was not read back.
@Suite struct HostileFileTests {
  private static let package = ResourcePackage(
    name: "r.zip", files: [.init(name: "a", path: "/a", bytes: firmware(400))])

  fileprivate static func content(
    _ offset: Int, of total: Int, _ bytes: [UInt8], status: UInt8 = 1
  ) -> [UInt8] {
    [0x11, status, 0, 0]
      + [offset, total, bytes.count].flatMap { UInt32($0).littleEndianBytes } + bytes
  }

  fileprivate static func pacing(_ offset: Int, free: Int, status: UInt8 = 1) -> [UInt8] {
    [0x21, status, 0, 0] + UInt32(offset).littleEndianBytes + [UInt8](repeating: 0, count: 8)
      + UInt32(free).littleEndianBytes
  }

  fileprivate static func offset(_ request: [UInt8]) -> Int {
    request[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  /// Stores the package in a device with these answers.
  private func store(
    version: [UInt8] = [4, 0], _ answer: @escaping @Sendable ([UInt8]) -> [[UInt8]]
  ) throws -> Result<ResourceUpdate.Outcome, UpdateFault> {
    try FileServer(version: version, answer).store(Self.package)
  }

  /// A device without files, whose other answers are `answer`.
  private static func empty(
    _ answer: @escaping @Sendable ([UInt8]) -> [[UInt8]]
  ) -> @Sendable ([UInt8]) -> [[UInt8]] {
    { request in
      request[0] == 0x10 ? [content(0, of: 0, [], status: 0xFE)] : answer(request)
    }
  }

  @Test func aSilentDeviceEndsTheTransfer() throws {
    let result = try store { _ in [] }
    #expect(result == .failure(.gatt(.prepare, .timedOut(after: .seconds(15)))))
  }

  @Test func malformedAnswersEndTheTransfer() throws {
    for answer: [UInt8] in [[], [0x11], [0x99, 1], [0x21, 1, 0, 0]] {
      guard case .failure(.protocolViolation(.prepare, _)) = try store({ _ in [answer] }) else {
        Issue.record("\(answer)")
        return
      }
    }
  }

  @Test func answersToOtherRequestsAreSkippedAndDoNotExtendTheLimit() throws {
    let result = try store { _ in
      [[UInt8]](repeating: [0x31, 1], count: 20) + [Self.content(99, of: 400, [1])]
    }
    #expect(result == .failure(.gatt(.prepare, .timedOut(after: .seconds(15)))))
  }

  @Test func aFileThatNeverEndsIsRefused() throws {
    // The start of the file is correct, and then the device returns no more bytes.
    let result = try store { request in
      let offset = Self.offset(request)
      let file = Self.package.files[0].bytes
      return [Self.content(offset, of: 400, offset == 0 ? Array(file.prefix(100)) : [])]
    }
    #expect(result == .failure(.noProgress(atOffset: 100, repeats: 5)))
  }

  @Test func moreBytesThanTheFileHasAreNoCrash() throws {
    // The device claims a file of 10 bytes, but returns 200.
    let result = try store { request in
      request[0] == 0x10
        ? [Self.content(Self.offset(request), of: 10, [UInt8](repeating: 0, count: 200))]
        : [[0x31, 5]]
    }
    guard case .failure(.declined(.upload, let refusal)) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(refusal.code == "/otaflash.part, status 5")
  }

  @Test func writesThatAreAcknowledgedButNotStoredAreDetected() throws {
    // The device acknowledges everything, but has no file.
    let result = try store(
      Self.empty { request in
        switch request[0] {
        case 0x20, 0x22: [Self.pacing(Self.offset(request), free: 400)]
        case 0x30: [[0x31, 0xFE]]
        case 0x40: [[0x41, 1]]
        default: [[0x61, 1]]
        }
      })
    guard case .failure(.declined(.upload, let refusal)) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(refusal == .fileDiffers("/a"))
  }

  /// The known codes are errors only if the bytes are missing; the watch sends any code.
  @Test(arguments: [0xE4, 0xFB, 0xAC, 0x02] as [UInt8])
  func anErrorCodeIsAnErrorIfTheBytesAreMissing(_ status: UInt8) throws {
    let result = try store(
      Self.empty { request in
        [Self.pacing(Self.offset(request), free: 400, status: request[0] == 0x20 ? 1 : status)]
      })
    guard case .failure(.declined(.upload, let refusal)) = result else {
      Issue.record("\(result)")
      return
    }
    let expected = FileTransferStatus(rawValue: Int8(bitPattern: status))
    #expect(refusal == expected.inWords(of: "/otaflash.part"))
  }

  @Test func tooLittleSpaceIsReportedBeforeTheFirstByte() throws {
    let result = try store(Self.empty { [Self.pacing(Self.offset($0), free: 399)] })
    #expect(
      result
        == .failure(
          .declined(.upload, .noSpace(free: 399, needed: 400, path: "/otaflash.part"))))
  }

  @Test func aWrongByteIsDetectedWhenTheFileIsReadBack() throws {
    let device = StoringDevice()
    let result = try store { request in
      device.answers(to: request).map { answer in
        guard answer[0] == 0x11, answer.count > 16 else { return answer }
        return answer.dropLast() + [answer[answer.count - 1] ^ 1]
      }
    }
    guard case .failure(.declined(.upload, let refusal)) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(refusal == .fileDiffers("/a") && device.file == nil)
  }

  /// The device no longer finds the temporary file when the host repeats the request.
  @Test func aMoveWhoseAnswerIsLostSucceeds() throws {
    let device = StoringDevice()
    let result = try store { request in
      let answers = device.answers(to: request)
      return answers == [[0x61, 1]] ? [] : answers
    }
    #expect(try result.get().sent == ["/a"])
    #expect(device.file == Self.package.files[0].bytes)
  }

  private static let otherVersions: [(bytes: [UInt8], isVersion: Bool)] = [
    ([1, 0], true), ([3, 0], true), ([4], false), ([], false),
  ]

  @Test(arguments: otherVersions)
  func otherVersionsAreRefused(_ version: [UInt8], _ isVersion: Bool) throws {
    let result = try store(version: version) { _ in [] }
    switch result {
    case .failure(.declined(.connect, let refusal)):
      #expect(isVersion && refusal.kind == .versionNotSupported)
    case .failure(.protocolViolation(.connect, _)): #expect(!isVersion)
    default: Issue.record("\(result)")
    }
  }

  /// Random answers end every transfer within its limits, without a crash.
  @Test func randomAnswersAreNoCrash() throws {
    for seed in 0..<150 {
      let random = Mutex(SeededRandom(seed: UInt64(seed)))
      let result = try store { request in
        random.withLock { random in
          let kind: [UInt8] = [0x11, 0x21, 0x31, 0x41, 0x61]
          guard Bool.random(using: &random) else {
            return [random.bytes(count: Int.random(in: 0...60, using: &random))]
          }
          let command = kind[Int.random(in: 0..<5, using: &random)]
          let status = UInt8.random(in: 0...3, using: &random)
          let rest = random.bytes(count: Int.random(in: 0...40, using: &random))
          return [[command, status, 0, 0] + Array(request[4...].prefix(4)) + rest]
        }
      }
      if case .success = result { Issue.record("seed \(seed)") }
    }
  }
}

/// A device that stores one file, under a temporary name until the file is moved.
private final class StoringDevice: Sendable {
  private struct State {
    var part: [UInt8]?
    var file: [UInt8]?
  }
  private let state = Mutex(State())

  var file: [UInt8]? { state.withLock { $0.file } }

  func answers(to request: [UInt8]) -> [[UInt8]] {
    state.withLock { state in
      let offset = HostileFileTests.offset(request)
      switch request[0] {
      case 0x10:
        let isPart = request.suffix(5) == Array(".part".utf8)[...]
        guard let file = isPart ? state.part : state.file else {
          return [HostileFileTests.content(offset, of: 0, [], status: 0xFE)]
        }
        let count = Int(request[8]) | Int(request[9]) << 8
        return [
          HostileFileTests.content(
            offset, of: file.count, Array(file.dropFirst(offset).prefix(count)))
        ]
      case 0x20:
        state.part = []
        return [HostileFileTests.pacing(offset, free: 1_000)]
      case 0x22:
        state.part?.append(contentsOf: request[12...])
        return [HostileFileTests.pacing(offset, free: 1_000)]
      case 0x30:
        defer { state.part = nil }
        return [[0x31, state.part == nil ? 0xFE : 1]]
      case 0x40: return [[0x41, 1]]
      default:
        guard let part = state.part else { return [[0x61, 0xFE]] }
        (state.part, state.file) = (nil, part)
        return [[0x61, 1]]
      }
    }
  }
}

/// A device with a file service whose answers a test computes from the requests.
private final class FileServer: Sendable {
  private let version: [UInt8]
  private let answer: @Sendable ([UInt8]) -> [[UInt8]]
  private let server = GATTServer(valuesMaximum: 1_000)

  init(version: [UInt8], _ answer: @escaping @Sendable ([UInt8]) -> [[UInt8]]) {
    (self.version, self.answer) = (version, answer)
  }

  func store(
    _ package: ResourcePackage
  ) throws -> Result<ResourceUpdate.Outcome, UpdateFault> {
    try VirtualTimeline().run(limit: .seconds(7_200)) {
      clock -> Result<ResourceUpdate.Outcome, UpdateFault> in
      let calls = Mailbox<MemoryLink>(capacity: 4)
      return await withTaskGroup(of: Void.self) { group in
        group.addTask {
          while let link = await calls.next() { await self.serve(link, clock: clock) }
        }
        let dialer = Dialer { () async throws(ConnectFault) -> any Link in
          let (near, far) = MemoryLink.pair(capacity: 8)
          calls.offer(far)
          return near
        }
        defer {
          calls.finish()
          group.cancelAll()
        }
        do throws(UpdateFault) {
          return .success(try await ResourceUpdate(package).run(on: dialer, clock: clock))
        } catch {
          return .failure(error)
        }
      }
    }
  }

  private func serve(_ link: any Link, clock: any LinkClock) async {
    let value = AttributeValue.written { [self] bytes, context in
      for answer in answer(bytes) {
        server.notify(AttributeHandle(5), Array(answer.prefix(context.mtu.bytes - 3)))
      }
      return nil
    }
    server.install(
      AttributeTable(services: [
        LocalService(
          FileTransfer.service,
          characteristics: [
            LocalCharacteristic(
              FileTransfer.version, properties: .read, value: .fixed(version)),
            LocalCharacteristic(
              FileTransfer.transfer, properties: [.write, .notify], value: value),
          ])
      ]))
    _ = await server.serve(link, clock: clock)
  }
}
