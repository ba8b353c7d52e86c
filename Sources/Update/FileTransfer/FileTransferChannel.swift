import OtaflashATT
import OtaflashGATT

/// The file transfer service on one connection. One request is in flight at a time.
struct FileTransferChannel: Sendable {
  /// The time limit for the answer to one transmission of a request. A watch that sleeps wakes up
  /// first; a watch without a free buffer drops the answer silently.
  static let answerLimit = Duration.seconds(5)
  /// The maximum number of transmissions of a request. Repeating a request is safe, because every
  /// request contains its path or its offset.
  static let triesMaximum = 3

  /// An answer, and the number of transmissions of its request.
  struct Reply: Sendable {
    let answer: FileTransferAnswer
    let tries: Int
  }

  let client: GATTClient
  let context: UpdateContext
  private let transfer: DiscoveredCharacteristic
  private let answers: NotificationStream

  /// Finds the service, checks its version, and subscribes to its answers.
  init(on client: GATTClient, _ context: UpdateContext) async throws(UpdateFault) {
    (self.client, self.context) = (client, context)
    let version: [UInt8]
    do throws(GATTFault) {
      let characteristic = try await client.characteristic(
        FileTransfer.version, in: FileTransfer.service)
      transfer = try await client.characteristic(FileTransfer.transfer, in: FileTransfer.service)
      version = try await client.read(characteristic)
      answers = try await client.subscribe(to: transfer, as: .notifications)
    } catch .notFound {
      throw .declined(.connect, .noFileService)
    } catch .refused(_, .insufficientAuthorization) {
      throw .declined(.connect, .filesNotPermitted)
    } catch {
      throw .gatt(.connect, error)
    }
    guard version.count == 2 else {
      throw .protocolViolation(.connect, "the version of its file service is not 2 bytes")
    }
    let number = UInt16(version[0]) | UInt16(version[1]) << 8
    guard number >= FileTransfer.versionMinimum else {
      throw .declined(.connect, .fileServiceVersion(number))
    }
  }

  /// The maximum size of a request in bytes: the device does not combine several writes.
  var requestMaximum: Int { client.singleWriteLength }

  /// The maximum number of content bytes in a request.
  var dataMaximum: Int { requestMaximum - FileTransferRequest.dataHeaderSize }

  /// The maximum number of content bytes in an answer; the device truncates longer answers.
  var contentMaximum: Int { client.singleWriteLength - FileTransferRequest.contentHeaderSize }

  /// Sends a request, and waits for its answer.
  ///
  /// - Throws: `.gatt(_, .timedOut)` if the device is silent after every transmission.
  func ask(
    _ request: FileTransferRequest, _ stage: UpdateStage
  ) async throws(UpdateFault) -> Reply {
    let encoded = request.encoded
    guard encoded.count <= requestMaximum, dataMaximum > 0, contentMaximum > 0 else {
      throw .declined(stage, .requestTooLong(encoded.count, limit: requestMaximum))
    }
    for number in 1...Self.triesMaximum {
      while answers.poll() != nil {}
      try await write(encoded, stage)
      let deadline = context.clock.now.advanced(by: Self.answerLimit)
      while let answer = try await next(before: deadline, stage) {
        if request.isAnswered(by: answer) { return Reply(answer: answer, tries: number) }
      }
    }
    throw .gatt(stage, .timedOut(after: Self.answerLimit * Self.triesMaximum))
  }

  private func write(_ bytes: [UInt8], _ stage: UpdateStage) async throws(UpdateFault) {
    do throws(GATTFault) {
      try await client.write(bytes, to: transfer)
    } catch .refused(_, .insufficientAuthorization) {
      throw .declined(stage, .filesNotPermitted)
    } catch {
      throw .gatt(stage, error)
    }
  }

  /// Returns the next answer; `nil` if none arrives before the deadline.
  private func next(
    before deadline: LinkInstant, _ stage: UpdateStage
  ) async throws(UpdateFault) -> FileTransferAnswer? {
    // A device that never stops sending cannot extend the deadline.
    guard context.clock.now < deadline else { return nil }
    let received: NotificationStream.Element?
    do throws(GATTFault) {
      received = try await withDeadline(
        deadline, on: context.clock, orThrow: .timedOut(after: Self.answerLimit)
      ) { [answers] () async throws(GATTFault) -> NotificationStream.Element? in
        try await answers.next()
      }
    } catch .timedOut {
      return nil
    } catch {
      throw .gatt(stage, error)
    }
    guard let received else { throw .gatt(stage, .linkLost(.closedLocally)) }
    return try decoding(stage) { () throws(FileTransferDecodeFault) in
      try FileTransferAnswer(decoding: received.value)
    }
  }
}
