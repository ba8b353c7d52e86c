import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Synchronization
import Testing

/// Tests of mode `auto`, which sends commands within the window and a request at the end of a
/// window.
@Suite struct AutoModeTests {
  private static let image = UpdateTests.image(size: 60_000)
  /// The size of the receive buffer of the plain device, which is also the largest window.
  private static let window = 8192

  /// A data write in the form in which the device's stack receives it.
  private struct DataWrite: Equatable, Sendable {
    let isRequest: Bool
    let bytes: Range<Int>
    let isInOrder: Bool
  }

  // MARK: PDUs of the link

  @Test(arguments: ["plain", "fast", "fast?ring=60K", "plain?mtu=23", "fast?response=same"])
  func theImageIsSentOnceInOrderWithOneRequestPerWindow(_ profile: String) throws {
    let (result, writes) = try Self.flash(onto: profile)
    #expect(try result.get().isVerified)
    #expect(writes.first?.bytes.lowerBound == 0)
    for (write, next) in zip(writes, writes.dropFirst()) {
      #expect(write.bytes.upperBound == next.bytes.lowerBound)
    }
    #expect(writes.last?.bytes.upperBound == Self.image.bytes.count)
    #expect(writes.allSatisfy { $0.isInOrder })
    // Two requests are at most two windows apart. A request that becomes due while the previous
    // request is open waits for the response to the previous request, while commands continue.
    let requests = writes.filter(\.isRequest)
    var former = 0
    for request in requests {
      let span = request.bytes.upperBound - former
      #expect(span <= 2 * (profile.contains("60K") ? 60 * 1024 : Self.window), "\(former)")
      former = request.bytes.upperBound
    }
    #expect(requests.count >= (profile.contains("60K") ? 1 : 5))
    #expect(requests.count < writes.count / 2)
  }

  @Test func commandsContinueDuringARequest() throws {
    let crossings = Mutex<[UInt8]>([])
    let (result, _) = try Self.flash(onto: "fast") { pdu in
      crossings.withLock { $0.append(pdu[0]) }
    }
    #expect(try result.get().isVerified)
    let opcodes = crossings.withLock { $0 }
    let isMixed = opcodes.indices.contains { index in
      opcodes[index] == 0x12 && opcodes[index...].dropFirst().prefix { $0 != 0x13 }.contains(0x52)
    }
    #expect(isMixed)
  }

  // MARK: Properties of the characteristic

  private static let kinds: [(CharacteristicProperties, WriteMode, areRequests: Bool)] = [
    (.write, .auto, true), (.writeWithoutResponse, .auto, false),
    // An explicit mode of the caller must be used.
    ([.write, .writeWithoutResponse], .withResponse, true),
    ([.write, .writeWithoutResponse], .withoutResponse, false),
  ]

  @Test(arguments: kinds)
  func aDeviceReceivesOnlyTheWritesThatItSupports(
    _ properties: CharacteristicProperties, _ mode: WriteMode, _ areRequests: Bool
  ) throws {
    let (result, writes) = try Self.flash(onto: "fast", mode, properties)
    #expect(try result.get().isVerified)
    #expect(!writes.isEmpty && writes.allSatisfy { $0.isRequest == areRequests })
  }

  // MARK: Gain and limits

  /// The flash stores a page in 125 ms. This is twice the rate of one write in two intervals of
  /// 15 ms.
  @Test func autoIsTwiceAsFastWithATypicalFlash() throws {
    let image = UpdateTests.image(size: 200_000)
    let times = try [WriteMode.auto, .withResponse].map { mode in
      try UpdateTests.flash(image, onto: "plain") { $0.mode = mode }.outcome.get().uploadTook
    }
    #expect(times[1] > times[0] * 1.9)
  }

  @Test func theReasonOfAWaitIsReported() throws {
    func waits(_ profile: String) throws -> TransferWaits {
      let result = try UpdateTests.flash(UpdateTests.image(size: 200_000), onto: profile)
      let flow = try #require(try result.outcome.get().flow)
      #expect(flow.mode == .auto && flow.link.mtu == 512)
      return flow.waits
    }
    let slow = try waits("plain")
    #expect(slow.device > .seconds(3) && slow.flash > slow.device * 0.8)
    let small = try waits("fast?ring=4K")
    #expect(small.flash < small.device * 0.2)
  }

  // MARK: Refusals of the request

  /// The first response to a data request is replaced by a refusal on its way to the host. Sending
  /// must continue at the device's offset.
  @Test(arguments: [0x80, 0x81] as [UInt8])
  func aRefusedRequestIsSentAgain(_ code: UInt8) throws {
    let (result, _) = try Self.flash(onto: "fast", refusing: code)
    #expect(try result.get().isVerified)
  }

  @Test func aMissingAuthorizationEndsTheUpdate() throws {
    let (result, _) = try Self.flash(onto: "fast", refusing: 0x83)
    #expect(throws: UpdateFault.declined(.upload, .otaService(.notAuthorized))) { try result.get() }
  }

  @Test func anUnknownErrorEndsTheUpdate() throws {
    let (result, _) = try Self.flash(onto: "fast", refusing: 0x0E)
    #expect {
      try result.get()
    } throws: { error in
      guard case UpdateFault.gatt(.upload, .refused(_, ATTErrorCode(0x0E))) = error else {
        return false
      }
      return true
    }
  }

  // MARK: Running

  private static func flash(
    onto profile: String, _ mode: WriteMode = .auto,
    _ properties: CharacteristicProperties = [.write, .writeWithoutResponse],
    refusing code: UInt8? = nil, crossed: @escaping @Sendable ([UInt8]) -> Void = { _ in }
  ) throws -> (Result<UpdateResult, UpdateFault>, [DataWrite]) {
    var options = UpdateOptions()
    options.mode = mode
    let update = FirmwareUpdate(image: image, options: options)
    let script = DataScript(properties, refusing: code, crossed)
    let timeline = VirtualTimeline()
    let board = try SimulatedBoard(
      profile: SimulationProfile(parsing: profile), clock: timeline.clock)
    let result = try timeline.run(limit: .seconds(600)) {
      clock -> Result<UpdateResult, UpdateFault> in
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await board.run() }
        defer { group.cancelAll() }
        let dialer = Dialer { () async throws(ConnectFault) -> any Link in
          DataLink(try await board.dial(), script)
        }
        do throws(UpdateFault) {
          return .success(try await update.run(on: dialer, clock: clock))
        } catch {
          return .failure(error)
        }
      }
    }
    if case .success = result { #expect(try board.runningImage() == image.bytes) }
    return (result, script.writes(of: image.bytes))
  }

  /// Records the writes to the data characteristic over all connections, and changes PDUs that the
  /// host receives: the properties of the characteristic, and the first response to a request.
  private final class DataScript: Sendable {
    private struct State {
      var handle: UInt16?
      var writes: [[UInt8]] = []
      var code: UInt8?
      var isOpen = false
    }

    private let properties: CharacteristicProperties
    private let crossed: @Sendable ([UInt8]) -> Void
    private let state: Mutex<State>
    /// The UUID 2f3e0003-21b4-4807-8bdc-74db56699529 in the byte order of a PDU.
    private static let uuid: [UInt8] = [
      0x29, 0x95, 0x69, 0x56, 0xDB, 0x74, 0xDC, 0x8B, 0x07, 0x48, 0xB4, 0x21, 0x03, 0x00, 0x3E,
      0x2F,
    ]

    init(
      _ properties: CharacteristicProperties, refusing code: UInt8?,
      _ crossed: @escaping @Sendable ([UInt8]) -> Void
    ) {
      self.properties = properties
      self.crossed = crossed
      state = Mutex(State(code: code))
    }

    func sent(_ pdu: [UInt8]) {
      crossed(pdu)
      guard pdu.count > 7, pdu[0] == 0x12 || pdu[0] == 0x52 else { return }
      state.withLock { state in
        guard UInt16(pdu[1]) | UInt16(pdu[2]) << 8 == state.handle else { return }
        state.writes.append(pdu)
        if pdu[0] == 0x12 { state.isOpen = true }
      }
    }

    /// Returns the PDU that the host receives.
    func received(_ pdu: [UInt8]) -> [UInt8] {
      crossed(pdu)
      return state.withLock { state in
        var pdu = pdu
        if pdu[0] == 0x09, let start = Self.place(in: pdu) {
          pdu[start - 3] = properties.rawValue
          state.handle = UInt16(pdu[start - 2]) | UInt16(pdu[start - 1]) << 8
        }
        guard pdu[0] == 0x13, state.isOpen, let handle = state.handle else { return pdu }
        state.isOpen = false
        guard let code = state.code.take() else { return pdu }
        return [0x01, 0x12, UInt8(truncatingIfNeeded: handle), UInt8(handle >> 8), code]
      }
    }

    private static func place(in pdu: [UInt8]) -> Int? {
      pdu.indices.first { pdu[$0...].starts(with: uuid) }
    }

    func writes(of image: [UInt8]) -> [DataWrite] {
      state.withLock { state in
        state.writes.map { pdu in
          let start = (3..<7).reduce(0) { $0 | Int(pdu[$1]) << (8 * ($1 - 3)) }
          let end = start + pdu.count - 7
          return DataWrite(
            isRequest: pdu[0] == 0x12, bytes: start..<end,
            isInOrder: end <= image.count && image[start..<end].elementsEqual(pdu[7...]))
        }
      }
    }
  }

  private final class DataLink: Link {
    private let base: any Link
    private let script: DataScript

    init(_ base: any Link, _ script: DataScript) {
      self.base = base
      self.script = script
    }

    var maximumPDUSize: Int { base.maximumPDUSize }
    var facts: LinkFacts { base.facts }
    var security: AttributeSecurity { base.security }

    func send(_ pdu: [UInt8]) async throws(LinkLoss) {
      try await base.send(pdu)
      script.sent(pdu)
    }

    func receive() async throws(LinkLoss) -> [UInt8] {
      script.received(try await base.receive())
    }

    func close() { base.close() }
  }
}
