import OtaflashFirmware
import OtaflashGATT

/// A device with Espressif's OTA service on one connection.
struct EspressifPeer: Sendable {
  let context: UpdateContext
  let retained: RetainedState<EspressifRetained>
  let channel: EspressifChannel
  private let identified: EspressifDevice

  init(
    _ channel: EspressifChannel, _ context: UpdateContext,
    _ retained: RetainedState<EspressifRetained>
  ) {
    self.channel = channel
    self.context = context
    self.retained = retained
    identified = EspressifDevice(
      channel.firmware.properties, hasProgress: channel.hasProgress)
  }

  /// The implementation, as far as it is known.
  var device: EspressifDevice {
    identified == .component ? retained.value.confirmed ?? identified : identified
  }

  /// Distinguishes implementations with the same attributes.
  func confirm(by answer: EspressifSectorAnswer) { confirm(identified.confirmed(by: answer)) }

  private func confirm(_ device: EspressifDevice) {
    guard identified == .component, device != identified, retained.value.confirmed == nil else {
      return
    }
    retained.update { $0.confirmed = device }
  }

  // MARK: The survey

  /// The maximum number of surveys. If the device answers none of them, the host assumes that the
  /// device is not in a transfer.
  private static let surveysMaximum = 3

  /// Requests the expected sector of a device that is in a transfer. All earlier packets have been
  /// handled, and all earlier answers have been received, when the device answers.
  ///
  /// - Parameters:
  ///   - receive: receives the earlier answers.
  /// - Returns: `nil` if the device does not answer, because it is in no transfer, or because this
  ///   implementation has no such request.
  func survey(
    _ stage: UpdateStage, _ receive: (EspressifSectorAnswer) throws(UpdateFault) -> Void
  ) async throws(UpdateFault) -> Int? {
    var isSure = false
    for _ in 0..<Self.surveysMaximum {
      // ble_ota on NimBLE refuses the packet if, and only if, it is in a transfer.
      if try await !channel.write(Self.marker(device.survey), stage) { isSure = true }
      let limit = context.options.silenceLimit + responseTime
      let deadline = context.clock.now.advanced(by: limit)
      while context.clock.now < deadline {
        let left = context.clock.now.duration(to: deadline)
        guard let answer = try await channel.answer(stage, within: left) else { break }
        if answer.sector == EspressifOTA.markerSector, answer.status == .wrongSector {
          confirm(isSure ? .nimble : .bluedroid)
          return device.survey == .barrier ? nil : Int(answer.wanted)
        }
        try receive(answer)
      }
      switch device.survey {
      case .barrier: return nil
      case .packet: if stage == .prepare, !isSure { return nil }
      // A transfer was started, so the device answers.
      case .lastPacket: break
      }
    }
    return nil
  }

  /// The additional time for an answer on a slow link: four connection intervals.
  private var responseTime: Duration {
    (channel.client.linkFacts.connectionInterval ?? .zero) * 4
  }

  static func marker(_ survey: EspressifDevice.Survey) -> [UInt8] {
    let sector: [UInt8] = [0xFE, 0xFF]
    return switch survey {
    case .packet, .barrier: sector + [0]
    case .lastPacket: sector + [EspressifOTA.lastPacket, 0, 0]
    }
  }
}
