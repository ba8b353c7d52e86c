import OtaflashFirmware
import OtaflashWire

/// Zephyr's SMP server, from writes to answers and flash operations. Requests are processed in
/// sequence. The server is independent of the link, and uses the clock only for its real-time
/// clock.
struct SMPServer: Sendable {
  /// The work that a valid request causes.
  struct Work: Sendable {
    /// The flash operations that precede the answer, in order.
    var operations: [FlashOperation] = []
    var answer: Answer
  }

  enum Answer: Sendable {
    case body(CBORMap)
    /// The answer to the last bytes of an image, which is created after the complete image is in
    /// flash, because the answer can contain the result of a comparison with the SHA-256.
    case uploadEnd(SMPUpload)
    /// The list of images, after a new boot record of one image has taken effect.
    case imageState(BootRecord, image: Int)
    /// The request is refused after its flash operations.
    case refusal(SMPServerRefusal)
  }

  private struct Job: Sendable {
    /// The request; `nil` = the server works without a request.
    let request: SMPMessage?
    var work: Work
    /// Further requests that follow this request in its buffer.
    var rest: [UInt8] = []
    /// The state that the upload had before this request.
    var uploadBefore: SMPUpload??
    /// Whether the connection of the request has ended.
    var isOrphaned = false
  }

  let parts: BoardParts
  let settings: SMPServerSettings
  /// Whether uploads are written to the active slot, which means that this is the server of the
  /// bootloader or of the firmware loader.
  let isRecovery: Bool
  var images: [BootedImage]
  var upload: SMPUpload?
  /// Whether an upload to the inactive slot of the application's image, or an erase of this slot,
  /// has started since the last check.
  var hasTakenSlot = false
  var misbehavior: SMPMisbehavior
  private(set) var reassembly: SMPReassembly
  /// The requested boot mode of a reset: 0 = the application; `nil` = no reset was requested.
  private(set) var resetMode: Int?
  /// The firmware loader's name that was set but not saved.
  var unsavedName: String?
  var savedName: String?
  /// The application's data in flash.
  var store: FlashDataStore
  var openFile: SMPOpenFile?
  /// The number of requests to the file group, to detect a time without requests.
  var fileUses = 0
  /// The upload of a file to a server of 2021.
  var upload2021: (offset: Int, length: Int)?
  /// The settings that the application uses.
  var currentSettings: [String: [UInt8]]
  var realTimeClock: RealTimeClock?
  var counters = Counters()
  /// The pending notifications, in order.
  var responses: [[UInt8]] = []
  private var waiting: [[UInt8]] = []
  private var job: Job?
  private var busyRequests: Int

  init(
    _ settings: SMPServerSettings, images: [BootedImage], isRecovery: Bool,
    misbehavior: SMPMisbehavior, store: FlashDataStore, parts: BoardParts
  ) {
    self.settings = settings
    self.images = images
    self.isRecovery = isRecovery
    self.misbehavior = misbehavior
    self.parts = parts
    self.store = store
    currentSettings = Self.defaultSettings.merging(store.settings) { $1 }
    reassembly = SMPReassembly(settings)
    busyRequests = settings.busyRequests
  }

  /// Whether the firmware loader runs in place of the application.
  var isLoader: Bool { isRecovery && settings.mode == .firmwareLoader }

  /// The current flash operation.
  var operation: FlashOperation? { job?.work.operations.first }

  /// Whether the server follows the rules of mcumgr before its move into Zephyr.
  var is2021: Bool { settings.release == .mcumgr2021 }

  /// Handles a write to the characteristic.
  mutating func received(_ fragment: [UInt8]) {
    guard let message = reassembly.received(fragment) else { return }
    waiting.append(message)
  }

  /// Handles a disconnection: the current request is completed without an answer.
  mutating func disconnected() {
    reassembly.disconnected()
    reassembly.releaseBuffers(waiting.count)
    waiting.removeAll()
    job?.isOrphaned = true
    job?.rest = []
    responses.removeAll()
  }

  /// Handles the end of the running flash operation.
  mutating func flashDone(_ isDone: Bool) {
    guard var job else { preconditionFailure("an operation ended that was not started") }
    job.work.operations.removeFirst()
    if !isDone {
      if let before = job.uploadBefore { writeFailed(before: before) }
      let isFile = job.request?.group == .files
      job.work = Work(
        answer: .refusal(isFile ? .file(.writeFailed) : .image(.flashWriteFailed)))
    }
    self.job = job
    completeWhenIdle()
  }

  // MARK: Requests

  /// Closes a file that was not used for some time. Returns `false` if the server is working on a
  /// request.
  mutating func closeIdleFile() -> Bool {
    guard job == nil else { return false }
    job = Job(request: nil, work: Work(operations: closeFile(), answer: .body(CBORMap())))
    completeWhenIdle()
    return true
  }

  /// Discards the upload, because another service writes the slot. Has no effect while a request is
  /// in progress.
  mutating func resetUpload() {
    if job == nil { upload = nil }
  }

  /// Makes the application's image on trial permanent, as another service requests. Returns the
  /// record to store; `nil` if no image is on trial.
  mutating func confirmTrial() -> BootRecord? {
    guard images[0].record.isOnTrial else { return nil }
    images[0].record.isOnTrial = false
    images[0].record.sequence += 1
    return images[0].record
  }

  /// Whether a request waits and no request is in progress.
  var hasWork: Bool { job == nil && !waiting.isEmpty }

  /// Starts the next request. The response needs a separate buffer. If requests occupy all buffers,
  /// the request is discarded, and the refusal is sent in its buffer.
  mutating func workOn() {
    guard hasWork else { return }
    let (request, rest) = firstRequest(in: waiting.removeFirst())
    counters.requests += 1
    guard reassembly.takeBuffer() else {
      counters.dropped += 1
      refuseUnread(request, .noMemory)
      reassembly.releaseBuffers(1)
      return
    }
    job = begin(request)
    job?.rest = rest
    if job == nil { release(rest) }
    completeWhenIdle()
  }

  /// Splits off the first request. Without reassembly a write may contain several requests, each at
  /// a multiple of 4.
  private func firstRequest(in bytes: [UInt8]) -> (request: [UInt8], rest: [UInt8]) {
    guard let size = SMPReassembly.size(of: bytes), size < bytes.count else { return (bytes, []) }
    let next = (size + 3) / 4 * 4
    return (Array(bytes[..<size]), next < bytes.count ? Array(bytes[next...]) : [])
  }

  /// Releases the response's buffer, and the request's buffer if it contains no further request.
  private mutating func release(_ rest: [UInt8]) {
    reassembly.releaseBuffers(rest.isEmpty ? 2 : 1)
    if !rest.isEmpty { waiting.insert(rest, at: 0) }
  }

  /// Starts a request. Returns `nil` if the message was already answered or cannot be answered.
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

  /// Prepares a message for decoding: a server of 2021 ignores the version, and all servers treat a
  /// missing body as an empty body.
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
    case .readDateTime: return try readDateTime()
    case .writeDateTime(let request): return try setDateTime(request)
    case .listStatistics: return try listStatistics()
    case .showStatistics(let request): return try showStatistics(request)
    case .settings(let call): return try settings(call)
    case .files(let call): return try files(call)
    case .shell(let request):
      guard settings.hasShell, !isRecovery else { throw .general(.notSupported) }
      if request.words.prefix(2) == ["fs", "ls"] {
        let (output, code) = listing(of: request.words.dropFirst(2).first ?? "/")
        return Work(answer: .body(SMPShell.Execute.Response(output: output, code: code).body))
      }
      let running = images[0].record
      let commands = BoardCommands(
        name: parts.applicationName, version: running.images[running.active].version.description)
      let (output, code) = commands.answer(request.words.joined(separator: " "))
      return Work(
        answer: .body(SMPShell.Execute.Response(output: output, code: code).body))
    case .slotInfo:
      guard !is2021 else { throw .general(.notSupported) }
      return Work(answer: .body(slotInformation.body))
    }
  }

  private mutating func completeWhenIdle() {
    guard let job, job.work.operations.isEmpty else { return }
    self.job = nil
    guard let request = job.request else { return }
    let body: CBORMap
    switch job.work.answer {
    case .body(let ready): body = ready
    case .uploadEnd(let upload): body = end(of: upload)
    case .imageState(let record, let index):
      images[index].record = record
      body = imageState.body
    case .refusal(let error): body = refusal(error, of: request)
    }
    if !job.isOrphaned { respond(to: request, body) }
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
    counters.responses += 1
  }

  /// Returns the encoded response. Servers of 2021 encode every map and list with indefinite
  /// length.
  private func encoded(_ response: SMPMessage) -> [UInt8] {
    guard is2021 else { return response.encoded }
    let body = CBORItem.map(response.body).encodedIndefinitely
    return SMPHeader(
      version: response.version, operation: response.operation, flags: response.flags,
      bodyLength: body.count, group: response.group, sequence: response.sequence,
      command: response.number
    ).encoded + body
  }

  /// Answers a message with an error without reading its body. A message without a complete header
  /// is not answered.
  private mutating func refuseUnread(_ bytes: [UInt8], _ error: GeneralError) {
    guard bytes.count >= SMPReassembly.headerBytes else { return }
    let map = CBORItem.map(Self.body(error))
    let body = is2021 ? map.encodedIndefinitely : map.encoded
    // The operation of a response is the operation of its request plus one.
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
    case (.file(let error, _), .v1): Self.body(error.version1)
    case (.file(let error, let length), .v2): Self.body(of: 8, error.rawValue, length: length)
    case (.settings(let error), .v1): Self.body(error.version1)
    case (.settings(let error), .v2): Self.body(of: 3, error.rawValue)
    case (.statistics, .v1): Self.body(.unknown)
    case (.statistics(let error), .v2): Self.body(of: 2, error)
    }
  }

  private static func body(of group: Int, _ error: Int, length: Int? = nil) -> CBORMap {
    CBORMap([
      "err": .map(CBORMap(["group": .integer(group), "rc": .integer(error)])),
      "len": length.map(CBORItem.integer),
    ])
  }
}
