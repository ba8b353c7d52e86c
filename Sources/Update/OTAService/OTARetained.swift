/// What an update over the OTA service retains from one connection to the next.
struct OTARetained: RetainedValue {
  /// What was sent last.
  var sent: OTASent?
  /// How much of it was in the device's flash when all of it was sent, in bytes.
  var durable = 0
  /// Why patches were given up for this device.
  var patchesGivenUp: PatchObstacle?
  /// Bytes of data in a write at most: the device was seen not to take what its ATT_MTU promises.
  var chunkCeiling: Int?
  /// Bytes to send ahead of the last acknowledgement at most: a request after more of them was not
  /// answered in time.
  var windowCeiling: Int?

  /// The stream of which the device's session is, as far as this update knows.
  var sentStream: OTAStream? {
    if case .stream(let sent) = sent { sent.stream } else { nil }
  }
}

extension RetainedState<OTARetained> {
  /// Gives patches up: the next transfer of this update is of the image as it is.
  func givingUpPatches(_ obstacle: PatchObstacle) -> UpdateFault {
    update { $0.patchesGivenUp = obstacle }
    return .noPatch(obstacle)
  }

  /// Why a device has no session any more, by what its Status says of that.
  func ending(_ stage: UpdateStage, _ note: OTAStatus.Note) -> UpdateFault {
    switch note {
    case .flashFault: .declined(stage, .otaService(.flashFault))
    case .notAuthorized: .declined(stage, .otaService(.notAuthorized))
    case .patchRefused where value.sentStream != nil: givingUpPatches(.refused)
    // An image as it is has nothing that could be refused in this way.
    case .patchRefused, .none, .gap, .overrun, .noSession:
      .declined(stage, .otaService(.wrongState))
    }
  }
}
