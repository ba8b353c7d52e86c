import OtaflashFirmware
import OtaflashWire

/// Zephyr's SMP server with the groups for the system and for images: what a write leads to, what
/// is answered, and what it has the flash do. Requests are worked on one after the other. It knows
/// no link and no clock.
struct SMPServer: Sendable {
  /// What a request that was understood leads to.
  struct Work: Sendable {
    /// In their order, before the answer.
    var operations: [FlashOperation] = []
    var answer: Answer
  }

  enum Answer: Sendable {
    case body(CBORMap)
    /// The last bytes of an image: the whole is compared with its SHA-256 once it is in flash.
    case uploadEnd(SMPUpload)
    /// The boot record of an image holds a new decision.
    case imageState(BootRecord, image: Int)
  }

  private struct Job: Sendable {
    let request: SMPMessage
    var work: Work
    /// Requests behind this one in its buffer.
    var rest: [UInt8] = []
    /// What was known of an upload before this request went on with it.
    var uploadBefore: SMPUpload??
    /// The connection that the request came over is gone.
    var isOrphaned = false
  }

  let parts: BoardParts
  let settings: SMPServerSettings
  /// The slot that uploads go to is the one that would run: this is the bootloader's server.
  let isRecovery: Bool
  var images: [BootedImage]
  var upload: SMPUpload?
  var misbehavior: SMPMisbehavior
  private(set) var reassembly: SMPReassembly
  /// The boot mode asked for with a reset: 0 = the application.
  private(set) var resetMode: Int?
  /// The firmware loader's name: as it was set, and as it was saved.
  var unsavedName: String?
  var savedName: String?
  /// Messages to notify, in order.
  var responses: [[UInt8]] = []
  private var waiting: [[UInt8]] = []
  private var job: Job?
  private var busyRequests: Int

  init(
    _ settings: SMPServerSettings, images: [BootedImage], isRecovery: Bool,
    misbehavior: SMPMisbehavior,
    parts: BoardParts
  ) {
    self.settings = settings
    self.images = images
    self.isRecovery = isRecovery
    self.misbehavior = misbehavior
    self.parts = parts
    reassembly = SMPReassembly(settings)
    busyRequests = settings.busyRequests
  }

  /// The firmware loader runs, in place of the application.
  var isLoader: Bool { isRecovery && settings.mode == .firmwareLoader }

  /// The operation that the flash is to do now.
  var operation: FlashOperation? { job?.work.operations.first }

  /// The rules of mcumgr before it was Zephyr's.
  var is2021: Bool { settings.release == .mcumgr2021 }

  /// A write to the characteristic.
  mutating func received(_ fragment: [UInt8]) {
    guard let message = reassembly.received(fragment) else { return }
    waiting.append(message)
  }

  /// The link is over: what is being worked on is finished, and nobody is told.
  mutating func disconnected() {
    reassembly.disconnected()
    reassembly.releaseBuffers(waiting.count)
    waiting.removeAll()
    job?.isOrphaned = true
    job?.rest = []
    responses.removeAll()
  }

  /// The running flash operation has ended.
  mutating func flashDone(_ isDone: Bool) {
    guard var job else { preconditionFailure("an operation ended that was not started") }
    job.work.operations.removeFirst()
    if !isDone {
      if let before = job.uploadBefore { writeFailed(before: before) }
      job.work = Work(answer: .body(refusal(.image(.flashWriteFailed), of: job.request)))
    }
    self.job = job
    completeWhenIdle()
  }

  // MARK: One request after the other

  /// A request waits, and none is worked on.
  var hasWork: Bool { job == nil && !waiting.isEmpty }

  /// Takes up the next request. Its response needs a buffer of its own: where requests fill all of
  /// them, the refusal goes out in the request's, which is lost thereby.
  mutating func workOn() {
    guard hasWork else { return }
    let (request, rest) = firstRequest(in: waiting.removeFirst())
    guard reassembly.takeBuffer() else {
      refuseUnread(request, .noMemory)
      reassembly.releaseBuffers(1)
      return
    }
    job = begin(request)
    job?.rest = rest
    if job == nil { release(rest) }
    completeWhenIdle()
  }

  /// Without reassembly several requests may lie in one write, each at a multiple of 4.
  private func firstRequest(in bytes: [UInt8]) -> (request: [UInt8], rest: [UInt8]) {
    guard let size = SMPReassembly.size(of: bytes), size < bytes.count else { return (bytes, []) }
    let next = (size + 3) / 4 * 4
    return (Array(bytes[..<size]), next < bytes.count ? Array(bytes[next...]) : [])
  }

  /// Gives the response's buffer back, and the request's when nothing is left in it.
  private mutating func release(_ rest: [UInt8]) {
    reassembly.releaseBuffers(rest.isEmpty ? 2 : 1)
    if !rest.isEmpty { waiting.insert(rest, at: 0) }
  }

  /// `nil` when the message has been answered already, or cannot be.
  private mutating func begin(_ bytes: [UInt8]) -> Job? {
    let request: SMPMessage
    do throws(SMPDecodeFault) {
      request = try SMPMessage(decoding: readable(bytes))
    } catch {
      switch error {
      case .headerEndsEarly, .unknownOperation: break
      case .unknownVersion: refuseUnread(bytes, .tooNew)
      default: refuseUnread(bytes, .invalid)
      }
      return nil
    }
    guard request.command != nil else { return nil }
    do throws(SMPServerRefusal) {
      guard !(settings.isVersion1 && request.version == .v2) else { throw .general(.tooNew) }
      let before = upload
      var job = Job(request: request, work: try carryOut(request))
      if request.command == SMPImage.Upload.command { job.uploadBefore = .some(before) }
      return job
    } catch {
      respond(to: request, refusal(error, of: request))
      return nil
    }
  }

  /// A server of 2021 does not look at the version. To all, no body is an empty one.
  private func readable(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.count >= SMPReassembly.headerBytes else { return bytes }
    var bytes = bytes
    if is2021 { bytes[0] &= 0x07 }
    if bytes.count == SMPReassembly.headerBytes, bytes[2] == 0, bytes[3] == 0 {
      bytes[3] = 1
      bytes.append(0xA0)
    }
    return bytes
  }

  private mutating func carryOut(_ request: SMPMessage) throws(SMPServerRefusal) -> Work {
    let call: SMPCall
    do throws(SMPDecodeFault) { call = try SMPCall(request) } catch {
      switch error {
      case .unknownCommand: throw .general(.notSupported)
      case .missing(SMPImage.Upload.offsetName): throw .image(.missingOffset)
      default: throw .general(.invalid)
      }
    }
    if request.group == .image, request.operation == .write, busyRequests > 0, !is2021 {
      busyRequests -= 1
      throw .general(.busy)
    }
    switch call {
    case .echo(let request): return echo(request)
    case .reset(let reset):
      resetMode = reset.bootMode ?? 0
      return Work(answer: .body(CBORMap()))
    case .parameters: return try parameters()
    case .applicationInfo(let request): return try applicationInfo(request)
    case .bootloaderInfo(let info): return try bootloaderInformation(info)
    case .imageState: return Work(answer: .body(imageState.body))
    case .setImageState(let request): return try setImageState(request)
    case .upload(let part): return try take(part)
    case .erase(let request): return try erase(request)
    case .writeSetting(let request): return try write(request)
    case .saveSettings:
      try requireSettings()
      savedName = unsavedName ?? savedName
      return Work(answer: .body(CBORMap()))
    case .slotInfo:
      guard !is2021 else { throw .general(.notSupported) }
      return Work(answer: .body(slotInformation.body))
    }
  }

  private mutating func completeWhenIdle() {
    guard let job, job.work.operations.isEmpty else { return }
    self.job = nil
    let body: CBORMap
    switch job.work.answer {
    case .body(let ready): body = ready
    case .uploadEnd(let upload): body = end(of: upload)
    case .imageState(let record, let index):
      images[index].record = record
      body = imageState.body
    }
    if !job.isOrphaned { respond(to: job.request, body) }
    release(job.rest)
  }

  // MARK: Answers

  private mutating func respond(to request: SMPMessage, _ body: CBORMap) {
    guard let operation = request.operation.response else { return }
    var response = request
    response.operation = operation
    response.body = body
    if encoded(response).count > settings.netBuffers.size { response.body = Self.body(.tooBig) }
    responses.append(encoded(response))
  }

  /// In 2021 every map and list is of indefinite length.
  private func encoded(_ response: SMPMessage) -> [UInt8] {
    guard is2021 else { return response.encoded }
    let body = CBORItem.map(response.body).encodedIndefinitely
    return SMPHeader(
      version: response.version, operation: response.operation, flags: response.flags,
      bodyLength: body.count, group: response.group, sequence: response.sequence,
      command: response.number
    ).encoded + body
  }

  /// A message whose header can be read is answered even if nothing else can.
  private mutating func refuseUnread(_ bytes: [UInt8], _ error: GeneralError) {
    guard bytes.count >= SMPReassembly.headerBytes else { return }
    let map = CBORItem.map(Self.body(error))
    let body = is2021 ? map.encodedIndefinitely : map.encoded
    // The operation of a response is that of its request and one.
    let operation = (is2021 ? bytes[0] & 0x07 : bytes[0]) | 1
    responses.append([operation, 0, 0, UInt8(body.count)] + bytes[4..<8] + body)
  }

  private static func body(_ error: GeneralError) -> CBORMap {
    CBORMap(["rc": .integer(error.rawValue)])
  }

  private func refusal(_ refusal: SMPServerRefusal, of request: SMPMessage) -> CBORMap {
    switch (refusal, request.version) {
    case (.general(let error), _): Self.body(error)
    case (.image(let error), .v1) where is2021:
      CBORMap(["rc": .integer(error.release2021)])
    case (.image(let error), .v1): CBORMap(["rc": .integer(error.version1)])
    case (.image(let error), .v2): Self.body(of: 1, error.rawValue)
    case (.system(_), .v1): Self.body(.invalid)
    case (.system(let error), .v2): Self.body(of: 0, error)
    }
  }

  private static func body(of group: Int, _ error: Int) -> CBORMap {
    CBORMap(["err": .map(CBORMap(["group": .integer(group), "rc": .integer(error)]))])
  }
}
