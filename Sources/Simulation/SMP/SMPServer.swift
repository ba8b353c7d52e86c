import OtaflashFirmware
import OtaflashUpdate

/// Zephyr's SMP server with the groups for the system and for images: what a write leads to, what is
/// answered, and what it has the flash do. Requests are worked on one after the other. It knows no
/// link and no clock.
struct SMPServer: Sendable {
  /// What a request that was understood leads to.
  struct Work: Sendable {
    /// In their order, before the answer.
    var operations: [FlashOperation] = []
    var answer: Answer
  }

  enum Answer: Sendable {
    case body(CBORMap)
    /// The last octets of an image: the whole is compared with its SHA-256 once it is in flash.
    case uploadEnd(SMPUpload)
    /// The boot record of an image holds a new decision.
    case imageState(BootRecord, image: Int)
  }

  private struct Job: Sendable {
    let request: SMPMessage
    var work: Work
    /// The connection that the request came over is gone.
    var isOrphaned = false
  }

  let parts: BoardParts
  let settings: SMPServerSettings
  /// The slot that uploads go to is the one that would run: this is the boot loader's server.
  let isRecovery: Bool
  var images: [BootedImage]
  var upload: SMPUpload?
  var lies: SMPLies
  private(set) var reassembly: SMPReassembly
  /// The boot mode asked for with a reset: 0 = the application.
  private(set) var resetMode: Int?
  /// Messages to notify, in order.
  var responses: [[UInt8]] = []
  private var waiting: [[UInt8]] = []
  private var job: Job?
  private var busyRequests: Int

  init(
    _ settings: SMPServerSettings, images: [BootedImage], isRecovery: Bool, lies: SMPLies,
    parts: BoardParts
  ) {
    self.settings = settings
    self.images = images
    self.isRecovery = isRecovery
    self.lies = lies
    self.parts = parts
    reassembly = SMPReassembly(settings)
    busyRequests = settings.busyRequests
  }

  /// The operation that the flash is to do now.
  var operation: FlashOperation? { job?.work.operations.first }

  /// A write to the characteristic.
  mutating func received(_ fragment: [UInt8]) {
    guard let message = reassembly.received(fragment) else { return }
    waiting.append(message)
    workOn()
  }

  /// The link is over: what is being worked on is finished, and nobody is told.
  mutating func disconnected() {
    reassembly.disconnected()
    reassembly.releaseBuffers(waiting.count)
    waiting.removeAll()
    job?.isOrphaned = true
    responses.removeAll()
  }

  /// The running flash operation has ended.
  mutating func flashDone(_ isDone: Bool) {
    guard var job else { preconditionFailure("an operation ended that was not started") }
    job.work.operations.removeFirst()
    if !isDone {
      job.work = Work(answer: .body(refusal(.image(.flashWriteFailed), of: job.request)))
    }
    self.job = job
    completeWhenIdle()
    workOn()
  }

  // MARK: One request after the other

  private mutating func workOn() {
    while job == nil, !waiting.isEmpty {
      // The response has a buffer of its own; the job before this one has left it.
      let hasBuffer = reassembly.takeBuffer()
      precondition(hasBuffer, "requests alone cannot fill the buffers while none is worked on")
      job = begin(waiting.removeFirst())
      if job == nil { reassembly.releaseBuffers(2) }
      completeWhenIdle()
    }
  }

  /// `nil` when the message has been answered already, or cannot be.
  private mutating func begin(_ octets: [UInt8]) -> Job? {
    let request: SMPMessage
    do throws(SMPDecodeFault) {
      request = try SMPMessage(decoding: octets)
    } catch {
      refuseUnread(octets, error)
      return nil
    }
    guard request.command != nil else { return nil }
    do throws(SMPServerRefusal) {
      guard !(settings.isVersion1 && request.version == .v2) else { throw .general(.tooNew) }
      return Job(request: request, work: try carryOut(request))
    } catch {
      respond(to: request, refusal(error, of: request))
      return nil
    }
  }

  private mutating func carryOut(_ request: SMPMessage) throws(SMPServerRefusal) -> Work {
    let call: SMPCall
    do throws(SMPDecodeFault) { call = try SMPCall(request) } catch {
      if case .unknownCommand = error { throw .general(.notSupported) }
      throw .general(.invalid)
    }
    if request.group == .image, request.operation == .write, busyRequests > 0 {
      busyRequests -= 1
      throw .general(.busy)
    }
    switch call {
    case .echo(let echo): return Work(answer: .body(SMPOS.Echo.Response(echo.text).body))
    case .reset(let reset):
      resetMode = reset.bootMode ?? 0
      return Work(answer: .body(CBORMap()))
    case .parameters: return try parameters()
    case .applicationInfo:
      return Work(answer: .body(SMPOS.ApplicationInfo.Response(output: "Zephyr").body))
    case .bootloaderInfo(let info): return try bootLoaderInformation(info)
    case .imageState: return Work(answer: .body(imageState.body))
    case .setImageState(let request): return try setImageState(request)
    case .upload(let part): return try take(part)
    case .erase(let request): return try erase(request)
    case .slotInfo: return Work(answer: .body(slotInformation.body))
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
    // The request's and the response's.
    reassembly.releaseBuffers(2)
  }

  // MARK: Answers

  private mutating func respond(to request: SMPMessage, _ body: CBORMap) {
    guard let operation = request.operation.response else { return }
    var response = request
    response.operation = operation
    response.body = body
    if response.encoded.count > settings.netBuffers.size { response.body = Self.body(.tooBig) }
    responses.append(response.encoded)
  }

  /// A message whose header can be read is answered even if nothing else can.
  private mutating func refuseUnread(_ octets: [UInt8], _ fault: SMPDecodeFault) {
    let error: GeneralError
    switch fault {
    case .headerEndsEarly, .unknownOperation: return
    case .unknownVersion: error = .tooNew
    default: error = .invalid
    }
    let body = CBORItem.map(Self.body(error)).encoded
    // The operation of a response is that of its request and one.
    responses.append(
      [octets[0] | 1, 0, 0, UInt8(body.count)] + octets[4..<8] + body)
  }

  private static func body(_ error: GeneralError) -> CBORMap {
    CBORMap(["rc": .integer(error.rawValue)])
  }

  private func refusal(_ refusal: SMPServerRefusal, of request: SMPMessage) -> CBORMap {
    switch (refusal, request.version) {
    case (.general(let error), _): Self.body(error)
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
