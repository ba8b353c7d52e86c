import OtaflashFirmware
import OtaflashGATT

/// The profile of CC26xx and CC13xx chips with a Boot Image Manager (TI BLE5-Stack, `oad.c`).
extension OADServer {
  /// The length of an announcement without its software version, which some hosts omit.
  private static let identifySize = 18

  mutating func process(_ message: Message, at now: LinkInstant) {
    switch (message.target, phase) {
    case (.control, _): control(message.bytes, at: now)
    case (.identify, .idle): identify(message.bytes, at: now)
    case (.block, .receiving(let transfer)): receive(message.bytes, transfer, at: now)
    case (_, .idle), (_, .configured):
      request(0, after: .notStarted)
      reset()
    case (_, .receiving), (_, .complete): reset()
    }
  }

  // MARK: Image Identify

  private mutating func identify(_ bytes: [UInt8], at now: LinkInstant) {
    guard bytes.count >= Self.identifySize else { return refuse(.invalidFile) }
    let length = Int(bytes.littleEndianWord(at: 14))
    let type = OADImageType(rawValue: bytes[12])
    // The last check that fails determines the status.
    var problem: Status?
    if Array(bytes[..<8]) != settings.chip.identification { problem = .invalidFile }
    if bytes[8] != OADSample.bimVersion || bytes[9] != OADSample.headerVersion {
      problem = .incompatibleFile
    }
    if length > parts.settings.slotSize || length < OADImage.coreSize { problem = .tooLarge }
    if [0, 5, 6].contains(type.rawValue) || type.rawValue >= 64 { problem = .incompatibleImage }
    if let problem { return refuse(problem) }
    // Without a subscription to Identify, the profile cannot answer and stays idle.
    guard notifiesIdentify else { return }
    phase = .configured(Transfer(length: length, blockBytes: blockSize - 4))
    lastActivity = now
    notify(.identify, [Status.success.rawValue])
  }

  /// Refuses an image; the third refusal reports `identifyRetries`.
  mutating func refuse(_ status: Status) {
    retriesLeft = max(0, retriesLeft - 1)
    notify(.identify, [(retriesLeft == 0 ? Status.identifyRetries : status).rawValue])
  }

  // MARK: Control

  private mutating func control(_ bytes: [UInt8], at now: LinkInstant) {
    switch bytes.first {
    case 0x01: answer([0x01] + UInt16(blockSize).littleEndianBytes)
    case 0x02: answer(0x02, isConfigured ? .success : .notStarted)
    case 0x03: start()
    case 0x04: enableRequested(bytes)
    case 0x05: cancel()
    case 0x07 where settings.reportsVersion: answer([0x07] + version)
    default: answer([Status.unknownCommand.rawValue])
    }
  }

  /// Answers a command; without an active connection, the answer is lost.
  private mutating func answer(_ bytes: [UInt8]) {
    if isActive { notify(.control, bytes) }
  }

  private mutating func answer(_ command: UInt8, _ status: Status) {
    answer([command, status.rawValue])
  }

  private var isConfigured: Bool { if case .configured = phase { true } else { false } }

  private mutating func start() {
    guard case .configured(let transfer) = phase else { return answer(0x03, .notStarted) }
    phase = .receiving(transfer)
    request(0, after: .success)
  }

  private mutating func enableRequested(_ bytes: [UInt8]) {
    guard bytes.count == 1, case .complete(let transfer) = phase else {
      return answer(0x04, .incomplete)
    }
    let type = OADImageType(rawValue: transfer.bytes[18])
    guard type.isRunnable else { return answer(0x04, .incompatibleImage) }
    enable(transfer)
  }

  /// Cancels a transfer. The profile discards the record of the connection before it answers, so a
  /// successful command has no answer.
  private mutating func cancel() {
    if case .idle = phase { return answer(0x05, .notStarted) }
    reset()
    answer(0x05, .success)
  }
}
