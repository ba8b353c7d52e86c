import OtaflashGATT

/// The end of an update.
extension EspressifPeer {
  /// The time in which a device with a complete image restarts automatically.
  private static let restartTime = Duration.seconds(2)

  /// Makes the device start the image. Returns when the link has ended, which shows that the device
  /// has accepted the image.
  func finish() async throws(UpdateFault) {
    switch device.stop {
    case .immediately:
      guard try await stop() else { return }
    case .ifConnected:
      if try await channel.isLost(within: Self.restartTime) { return }
      guard try await stopIfPossible() else { return }
    case .never: break
    }
    guard try await channel.isLost(within: context.options.rebootLimit / 4) else {
      throw .declined(
        .activate,
        device.stop == .immediately ? .espressifNotRestarted : .espressifImageRejected)
    }
  }

  /// Sends STOP to a device that finishes the update with it; returns `false` if the link ended.
  private func stop() async throws(UpdateFault) -> Bool {
    retained.update { $0.isStopUnanswered = true }
    do throws(UpdateFault) {
      let answer = try await channel.perform(
        .stop, .activate, within: context.options.rebootLimit / 4)
      retained.update { $0.isStopUnanswered = false }
      guard answer.status == .accepted else {
        throw UpdateFault.declined(.activate, answer.status.ofStop())
      }
      return true
    } catch .gatt(_, .linkLost(let loss)) where loss != .cancelled {
      return false
    } catch .gatt(_, .timedOut) {
      throw .declined(.activate, .espressifImageRejected)
    }
  }

  /// Sends STOP to a device that did not restart; returns `false` if the link ended.
  private func stopIfPossible() async throws(UpdateFault) -> Bool {
    do throws(UpdateFault) {
      _ = try await channel.perform(.stop, .activate, within: Self.restartTime)
      return true
    } catch .gatt(_, .linkLost(let loss)) where loss != .cancelled {
      return false
    } catch .gatt(_, .timedOut) {
      return true
    }
  }

  /// Ends a transfer that the user stopped. Only NimBLEOta discards a transfer at STOP; for other
  /// implementations STOP has no effect or finishes an incomplete image.
  func abandon() async throws(UpdateFault) {
    guard device == .nimbleOTA else { return }
    _ = try await channel.perform(.stop, .upload, within: context.options.abortLimit)
  }

  /// Examines a device that does not report the new version after the activation: the link may have
  /// been lost before the device restarted.
  ///
  /// - Throws: the loss of the link if the device restarts now; `.declined` if it does not restart.
  func checkRestart() async throws(UpdateFault) {
    if retained.value.isStopUnanswered {
      guard try await repeatStop() else { return }
    } else {
      guard device.survey == .packet, try await survey(.prepare, { _ in }) != nil else { return }
    }
    guard try await channel.isLost(within: context.options.rebootLimit / 4) else {
      throw .declined(.reconnect, .espressifStillInTransfer)
    }
    throw .gatt(.reconnect, .linkLost(.supervisionTimeout))
  }

  /// Sends STOP again. Returns whether the device accepted it, which shows that the device had not
  /// received the first STOP.
  private func repeatStop() async throws(UpdateFault) -> Bool {
    do throws(UpdateFault) {
      let answer = try await channel.perform(
        .stop, .reconnect, within: context.options.silenceLimit)
      retained.update { $0.isStopUnanswered = false }
      return answer.status == .accepted
    } catch .gatt(_, .timedOut) {
      retained.update { $0.isStopUnanswered = false }
      return false
    }
  }
}
