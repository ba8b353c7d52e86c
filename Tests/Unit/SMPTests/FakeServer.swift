import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashUpdate
import OtaflashWire
import Synchronization

/// A minimal device with MCUboot and two slots, which follows the specification of the image group
/// literally, and fails as configured.
final class FakeServer: Sendable {
  struct Settings: Sendable {
    /// The buffer size in the response to Parameters, and the maximum size of a message; `nil` =
    /// the command is unknown.
    var bufferSize: Int? = 600
    var bufferCount = 4
    var reassembles = true
    var mode: MCUbootMode? = .swapUsingScratch
    var forbidsDowngrade: Bool?
    var slotSize: Int? = 0x10000
    /// The size of slot 1, if it differs from the size of slot 0.
    var secondSlotSize: Int?
    var tellsHashes = true
    /// The unit of accepted data in every upload request except the last.
    var writeUnit = 1
    /// Whether the running image is reported by its decompressed hash.
    var decompresses = false
    /// The hash by which the running image is reported in any case.
    var toldHash: [UInt8]?
    /// The numbers, from 1, of upload requests that are lost, and of upload requests whose
    /// responses are lost.
    var lostRequests: Set<Int> = []
    var lostAnswers: Set<Int> = []
    /// The number, from 1, of the upload request at which the link ends. This request is lost;
    /// bytes of earlier requests are kept.
    var linkEndsAfter: Int?
    /// The number, from 1, of the upload request before which the upload is lost, as by a restart.
    var forgetsAfter: Int?
    /// The number of busy responses to upload requests before the first accepted request.
    var busyAnswers = 0
    /// The number of the first upload request to which the response is "busy"; all later responses
    /// are also "busy".
    var busyFrom: Int?
    /// Uploads arrive damaged until the slot has been erased this number of times.
    var damagedUploads = 0
    /// Whether an erase keeps the state of the upload.
    var remembersErased = false
    /// Whether the new image does not confirm itself, so that the bootloader reverts it.
    var goesBack = false
    /// Whether the bootloader finds the signature invalid, and erases the image.
    var refusesImage = false
    /// The commands that the server refuses, with the refusals.
    var refusals: [SMPCommand: SMPRefusal] = [:]
    var silent: Set<SMPCommand> = []
    /// Whether version 2 of SMP is refused.
    var isVersion1 = false
    /// Whether the server sends other messages before each response: a response to another command,
    /// a response with the previous sequence number, and an invalid message.
    var strayAnswers = false
  }

  struct State: Sendable {
    var slots: [[UInt8]]
    var active = 0
    var confirmed = true
    var pending: (slot: Int, isPermanent: Bool)?
    var upload: (size: Int, sha: [UInt8]?, bytes: [UInt8])?
    var reassembly = SMPReassembly()
    var uploadRequests = 0
    var erases = 0
    var resets = 0
    var mtu = 23
    var longestWrite = 0
    var commands: [SMPCommand] = []
    var linkEnds = false
  }

  let settings: Settings
  private let shared: Mutex<State>
  private let server = GATTServer(valuesMaximum: 1_000)
  private let leave = Mutex(OneShot<Void>?.none)

  init(running image: [UInt8], _ settings: Settings = Settings()) {
    self.settings = settings
    shared = Mutex(State(slots: [image, []]))
  }

  var state: State { shared.withLock { $0 } }
  /// Stores an image in the inactive slot.
  func place(_ image: [UInt8]) { shared.withLock { $0.slots[1 - $0.active] = image } }

  /// Marks the image of the inactive slot as pending, or the running image as on trial.
  func leave(isPending: Bool) {
    shared.withLock { state in
      state.pending = isPending ? (1 - state.active, false) : nil
      state.confirmed = isPending
    }
  }

  var runningImage: [UInt8] { shared.withLock { $0.slots[$0.active] } }

  // MARK: The link

  func serve(_ link: any Link, clock: any LinkClock) async {
    let leaving = OneShot<Void>()
    leave.withLock { $0 = leaving }
    shared.withLock { state in
      state.reassembly.reset()
      state.linkEnds = false
    }
    let table = AttributeTable(services: [service()])
    server.install(table)
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        // The response is sent before the restart.
        if await leaving.wait() != nil, await clock.pause(for: .milliseconds(100)) { link.close() }
      }
      _ = await server.serve(link, clock: clock)
      group.cancelAll()
    }
    shared.withLock { state in
      if state.resets > 0 { boot(&state) }
    }
  }

  private func service() -> LocalService {
    let value = AttributeValue.written { [self] bytes, context in
      received(bytes, mtu: context.mtu.bytes)
      return nil
    }
    return LocalService(
      SMPService.service,
      characteristics: [
        LocalCharacteristic(
          SMPService.characteristic, properties: [.writeWithoutResponse, .notify], value: value)
      ])
  }

  private func received(_ bytes: [UInt8], mtu: Int) {
    let (answer, isLeaving) = shared.withLock { state -> (SMPMessage?, Bool) in
      guard !state.linkEnds else { return (nil, false) }
      state.mtu = mtu
      state.longestWrite = max(state.longestWrite, bytes.count)
      let resets = state.resets
      let answer = message(from: bytes, &state).flatMap { self.answer($0, &state) }
      return (answer, state.resets > resets || state.linkEnds)
    }
    if let answer {
      if settings.strayAnswers { notifyStrays(before: answer, mtu) }
      notify(answer.encoded, mtu)
    }
    if isLeaving { leave.withLock { $0 }?.fulfil(()) }
  }

  private func notifyStrays(before answer: SMPMessage, _ mtu: Int) {
    var alien = answer
    alien.number ^= 1
    var late = answer
    late.sequence &-= 1
    notify(alien.encoded, mtu)
    notify(late.encoded, mtu)
    notify([1, 2, 3], mtu)
  }

  private func notify(_ message: [UInt8], _ mtu: Int) {
    // The handle of the value of the only characteristic in the only service.
    let handle = AttributeHandle(3)
    for start in stride(from: 0, to: message.count, by: mtu - 3) {
      server.notify(handle, Array(message[start..<min(message.count, start + mtu - 3)]))
    }
  }

  /// A server without reassembly treats each write as a message, and refuses a truncated message.
  private func message(from bytes: [UInt8], _ state: inout State) -> SMPMessage? {
    if settings.reassembles {
      guard case .message(_, let whole) = state.reassembly.received(bytes),
        whole.count <= settings.bufferSize ?? .max
      else { return nil }
      return try? SMPMessage(decoding: whole)
    }
    guard let message = try? SMPMessage(decoding: bytes) else {
      if let header = try? SMPHeader(decoding: bytes), header.operation.response != nil {
        var cut = SMPMessage(SMPImage.ReadState(), sequence: header.sequence)
        (cut.operation, cut.group, cut.number) = (header.operation, header.group, header.command)
        notify(
          SMPMessage(answering: cut, refusing: SMPRefusal(.general(3))).encoded, state.mtu)
      }
      return nil
    }
    return message
  }

  // MARK: Commands

  private func answer(_ message: SMPMessage, _ state: inout State) -> SMPMessage? {
    guard let command = message.command, let call = try? SMPCall(message) else { return nil }
    state.commands.append(command)
    if settings.silent.contains(command) { return nil }
    func refuse(_ code: SMPRefusal.Code) -> SMPMessage {
      SMPMessage(answering: message, refusing: SMPRefusal(code))
    }
    if settings.isVersion1 && message.version == .v2 { return refuse(.general(13)) }
    if let refusal = settings.refusals[command] {
      return SMPMessage(answering: message, refusing: refusal)
    }
    func done(_ response: some SMPResponse) -> SMPMessage {
      SMPMessage(answering: message, with: response)
    }
    switch call {
    case .echo(let echo): return done(SMPOS.Echo.Response(echo.text))
    case .parameters:
      guard let size = settings.bufferSize else { return refuse(.general(8)) }
      return done(
        SMPOS.Parameters.Response(bufferSize: size, bufferCount: settings.bufferCount))
    case .bootloaderInfo:
      guard let mode = settings.mode else { return refuse(.general(8)) }
      return done(
        SMPOS.BootloaderInfo.Response(
          mode: mode.rawValue, forbidsDowngrade: settings.forbidsDowngrade))
    case .applicationInfo: return refuse(.general(8))
    case .reset:
      state.resets += 1
      return done(SMPDone())
    case .imageState: return done(list(state))
    case .setImageState(let write): return set(write, message, &state)
    case .erase:
      state.erases += 1
      guard state.pending == nil else { return refuse(.general(6)) }
      state.slots[1 - state.active] = []
      if !settings.remembersErased { state.upload = nil }
      return done(SMPDone())
    case .slotInfo:
      guard let size = settings.slotSize else { return refuse(.general(8)) }
      let slots = [size, settings.secondSlotSize ?? size].enumerated().map { slot, size in
        SMPImage.SlotInfo.Slot(slot: slot, size: size)
      }
      return done(SMPImage.SlotInfo.Response(images: [.init(image: 0, slots: slots)]))
    case .readDateTime, .writeDateTime, .listStatistics, .showStatistics, .settings, .files, .shell:
      return refuse(.general(8))
    case .upload(let upload): return receive(upload, message, &state)
    }
  }

  private func list(_ state: State) -> SMPImage.State {
    let slots = (0...1).compactMap { slot -> SMPImage.Slot? in
      guard let image = try? MCUbootImage(decoding: state.slots[slot]) else { return nil }
      var flags: SMPImage.Slot.Flags = [.bootable]
      if slot == state.active {
        flags.insert(.active)
        if state.confirmed { flags.insert(.confirmed) }
      } else if !state.confirmed {
        flags.insert(.confirmed)
      }
      if let pending = state.pending, pending.slot == slot {
        flags.insert(.pending)
        if pending.isPermanent { flags.insert(.permanent) }
      }
      return SMPImage.Slot(
        slot: slot, version: "\(image.version.firmwareVersion).\(image.version.build)",
        hash: settings.tellsHashes ? hash(of: image, isActive: slot == state.active) : nil,
        flags: flags)
    }
    return SMPImage.State(slots: slots)
  }

  private func hash(of image: MCUbootImage, isActive: Bool) -> [UInt8]? {
    if isActive, let hash = settings.toldHash { return hash }
    let decompressed = settings.decompresses && isActive ? image.decompressedHash : nil
    return decompressed ?? image.hash?.bytes
  }

  private func set(
    _ write: SMPImage.WriteState, _ message: SMPMessage, _ state: inout State
  ) -> SMPMessage {
    func refuse(_ rc: Int32) -> SMPMessage {
      SMPMessage(answering: message, refusing: SMPRefusal(.group(.image, rc)))
    }
    let slot: Int
    if let hash = write.hash {
      let found = (0...1).filter {
        (try? MCUbootImage(decoding: state.slots[$0]))?.hash?.bytes == hash
      }
      guard let first = found.first(where: { $0 != state.active }) ?? found.first else {
        return refuse(8)
      }
      slot = first
    } else {
      guard write.isConfirmed else { return refuse(24) }
      slot = state.active
    }
    if slot == state.active {
      guard write.isConfirmed else { return refuse(33) }
      state.confirmed = true
    } else {
      state.pending = (slot, write.isConfirmed)
    }
    return SMPMessage(answering: message, with: SMPImage.WriteState.Response(list(state)))
  }

  private func receive(
    _ part: SMPImage.Upload, _ message: SMPMessage, _ state: inout State
  ) -> SMPMessage? {
    state.uploadRequests += 1
    let number = state.uploadRequests
    if settings.lostRequests.contains(number) { return nil }
    if settings.linkEndsAfter == number {
      state.linkEnds = true
      return nil
    }
    if settings.forgetsAfter == number { state.upload = nil }
    let isStubborn = settings.busyFrom.map { number >= $0 } ?? false
    if number <= settings.busyAnswers || isStubborn {
      return SMPMessage(answering: message, refusing: SMPRefusal(.general(10)))
    }
    if part.offset == 0, let announced = part.announcement {
      let isSame =
        announced.sha != nil && announced.sha == state.upload?.sha
        && announced.size == state.upload?.size
      if !isSame {
        state.slots[1 - state.active] = []
        state.upload = (announced.size, announced.sha, [])
      }
    }
    if let upload = state.upload, part.offset == upload.bytes.count {
      let isEnd = upload.bytes.count + part.data.count >= upload.size
      let whole = part.data.count / settings.writeUnit * settings.writeUnit
      state.upload?.bytes += part.data.prefix(isEnd ? part.data.count : whole)
    }
    let response = finish(&state)
    return settings.lostAnswers.contains(number)
      ? nil : SMPMessage(answering: message, with: response)
  }

  private func finish(_ state: inout State) -> SMPImage.Upload.Response {
    guard let upload = state.upload else { return .init(offset: 0) }
    guard upload.bytes.count == upload.size else { return .init(offset: upload.bytes.count) }
    state.upload = nil
    var bytes = upload.bytes
    if state.erases < settings.damagedUploads { bytes[40] ^= 1 }
    state.slots[1 - state.active] = bytes
    return .init(offset: upload.size, matches: bytes == upload.bytes)
  }

  // MARK: The bootloader

  private func boot(_ state: inout State) {
    state.resets = 0
    state.upload = nil
    let version = state.slots.map { (try? MCUbootImage(decoding: $0))?.version }
    switch settings.mode ?? .unknown {
    case .directXIP, .ramLoad:
      if let first = version[0], let second = version[1] { state.active = first < second ? 1 : 0 }
      state.pending = nil
    case .firmwareLoader, .singleApplication: break
    case .overwriteOnly:
      guard let pending = state.pending else { return }
      state.pending = nil
      if !settings.refusesImage { state.slots[state.active] = state.slots[pending.slot] }
      state.slots[pending.slot] = []
    case .unknown, .swapUsingScratch, .swapWithoutScratch, .directXIPWithRevert:
      guard let pending = state.pending else {
        if !state.confirmed { swap(&state, confirmed: true) }
        return
      }
      state.pending = nil
      if settings.refusesImage {
        state.slots[pending.slot] = []
        return
      }
      if settings.goesBack { return }
      swap(&state, confirmed: pending.isPermanent)
    }
  }

  private func swap(_ state: inout State, confirmed: Bool) {
    if settings.mode == .directXIPWithRevert {
      state.active = 1 - state.active
    } else {
      state.slots.swapAt(0, 1)
    }
    state.confirmed = confirmed
  }
}
