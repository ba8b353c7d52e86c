import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// Sends an image over Telink's OTA service on one connection.
struct TelinkTransfer: Sendable {
  /// The time in which a device answers the version request.
  private static let versionLimit = Duration.seconds(3)
  /// The time in which a device reports the result after END.
  private static let resultLimit = Duration.seconds(10)

  let context: UpdateContext
  let retained: RetainedState<TelinkRetained>
  let channel: TelinkChannel
  let variant: TelinkVariant
  /// Whether a variant with shorter PDUs is left.
  let hasShorterVariant: Bool

  // MARK: Before the image

  /// Asks the device whether it accepts the product version, if the caller stated a version and the
  /// variant is not legacy.
  func compareVersion() async throws(UpdateFault) {
    guard let version = context.options.telink.productVersion, variant != .legacy else { return }
    try await channel.send(.requestVersion(version), .prepare)
    let silence = UpdateFault.declined(.prepare, .noVersionAnswer)
    let answer = try await channel.next(.prepare, within: Self.versionLimit, orThrow: silence)
    switch answer {
    case .version(_, isAccepted: true): break
    case .version(_, isAccepted: false): throw .declined(.prepare, TelinkResult.version.inWords)
    case .result(let result): throw .declined(.prepare, result.inWords)
    case .acceptedPDUs, .acceptedBytes:
      throw .protocolViolation(.prepare, "it reported progress before the transfer")
    }
  }

  // MARK: The image

  /// Returns the window at the start of a transfer.
  func window(for image: [UInt8]) -> TelinkWindow {
    TelinkWindow(
      total: image.count, pduLength: variant.fitted(to: image.count).pduLength,
      losses: retained.value.losses,
      limit: context.options.windowLimit)
  }

  func upload(_ image: [UInt8]) async throws(UpdateFault) {
    do throws(UpdateFault) {
      try await context.measuring(.withoutResponse, over: channel.client) {
        () async throws(UpdateFault) in try await sendAll(image)
      }
    } catch .gatt(.upload, .linkLost(let loss)) {
      // Without notifications, the end of the link is the only sign of a lost packet.
      if channel.notices == nil { retained.update { $0.losses += 1 } }
      throw .gatt(.upload, .linkLost(loss))
    }
  }

  private func sendAll(_ image: [UInt8]) async throws(UpdateFault) {
    let comparesVersion = context.options.telink.productVersion != nil
    let start = variant.fitted(to: image.count).start(comparingVersion: comparesVersion)
    try await channel.send(start, .upload)
    var window = window(for: image)
    var question: PendingRequest?
    var patience = Patience(with: channel.client, context)
    defer { question?.abandon() }
    while !window.isComplete {
      if let notice = try channel.poll(.upload) {
        try await take(notice, &window)
      } else if let outcome = question?.poll() {
        question = nil
        do throws(GATTFault) { try outcome.get() } catch { throw .gatt(.upload, error) }
        window.answered()
      } else if window.isQuestionDue {
        question = try await ask(&window)
      } else if window.sendable != nil {
        try await send(image, &window)
        continue
      } else {
        try await wait(for: question)
      }
      context.acknowledged(window.confirmedBytes, of: image.count)
      try patience.check(
        Patience.Marks(acknowledged: window.confirmedBytes), at: context.clock.now)
    }
  }

  /// Sends PDUs up to the next question.
  private func send(_ image: [UInt8], _ window: inout TelinkWindow) async throws(UpdateFault) {
    var ahead = window
    defer { window = ahead }
    context.meter?.beginWriting(context.clock)
    try await channel.sendPDUs {
      guard let range = ahead.sendable, let index = UInt16(exactly: ahead.sent) else { return nil }
      ahead.didSend()
      context.sent(range.count)
      return TelinkDataPDU.encoded(index: index, image[range])
    } afterWait: { time in
      context.meter?.waited(time, for: .transport)
    }
  }

  /// Asks for a confirmation. If another request is open, waits for the answer.
  private func ask(_ window: inout TelinkWindow) async throws(UpdateFault) -> PendingRequest? {
    window.didAsk()
    if let question = try await channel.ask() { return question }
    do throws(GATTFault) { try await channel.confirm() } catch { throw .gatt(.upload, error) }
    window.answered()
    return nil
  }

  private func wait(for question: PendingRequest?) async throws(UpdateFault) {
    try await context.waiting(for: .device) { () async throws(UpdateFault) in
      do throws(GATTFault) { try await question?.arrival(orOf: channel.notices) } catch {
        throw .gatt(.upload, error)
      }
    }
  }

  private func take(
    _ notice: TelinkNotice, _ window: inout TelinkWindow
  ) async throws(UpdateFault) {
    switch notice {
    case .acceptedPDUs(let count): try report(count, &window)
    case .acceptedBytes(let bytes):
      try report(min(bytes / window.pduLength, window.count), &window)
    // A late answer to an earlier request.
    case .version: break
    case .result(.success):
      throw .protocolViolation(.upload, "it accepted the image before the end of the image")
    case .result(let result): try await failed(result, window)
    }
  }

  private func report(_ pdus: Int, _ window: inout TelinkWindow) throws(UpdateFault) {
    guard window.reported(pdus: pdus) else {
      throw .protocolViolation(
        .upload, "it accepted \(pdus) packets, but only \(window.sent) were sent")
    }
  }

  // MARK: Errors

  /// Handles an error of the device, which always ends the transfer: starts over with shorter PDUs
  /// or more slowly if this may help.
  private func failed(
    _ result: TelinkResult, _ window: TelinkWindow
  ) async throws(UpdateFault) -> Never {
    if result.rejectsLength, window.confirmed == 0, hasShorterVariant {
      retained.update { $0.rejectedVariants += 1 }
      try await startOver(because: "it does not accept packets of \(variant.pduLength) bytes")
    }
    guard result.mayPass, retained.value.losses < TelinkRetained.lossesMaximum else {
      throw .declined(.upload, result.inWords)
    }
    retained.update { $0.losses += 1 }
    context.observe(.rewound(to: 0, because: .gap))
    try await startOver(because: result.inWords.meaning)
  }

  /// Waits until the device has ended the link. The next connection starts over.
  private func startOver(because reason: String) async throws(UpdateFault) -> Never {
    context.restarted(because: reason)
    _ = await channel.waitForEnd()
    throw .gatt(.upload, .transactionTimedOut)
  }

  // MARK: After the image

  /// Ends the transfer, after which the device checks the image and restarts into it.
  ///
  /// - Throws: `.gatt(.activate, .linkLost)` if the link ended without an answer.
  func finish(_ image: [UInt8]) async throws(UpdateFault) {
    let last = UInt16(clamping: window(for: image).count - 1)
    try await channel.send(.end(lastIndex: last), .activate)
    let silence = UpdateFault.declined(.activate, .noResult)
    guard channel.notices != nil else {
      // An old SDK reports nothing, and also ends the link after an error. The end of the link is
      // therefore not an answer.
      guard await channel.waitForEnd() else { throw silence }
      throw .gatt(.activate, .linkLost(.closedByPeer))
    }
    let result = try await result(orThrow: silence)
    guard result == .success else { throw .declined(.activate, result.inWords) }
    retained.update { $0.isAccepted = true }
    _ = await channel.waitForEnd()
  }

  private func result(orThrow silence: UpdateFault) async throws(UpdateFault) -> TelinkResult {
    let deadline = context.clock.now.advanced(by: Self.resultLimit)
    while true {
      let left = max(.zero, context.clock.now.duration(to: deadline))
      let notice = try await channel.next(.activate, within: left, orThrow: silence)
      if case .result(let result) = notice { return result }
    }
  }
}
