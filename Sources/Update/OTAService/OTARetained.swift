/// The state that an update over the OTA service retains from one connection to the next.
struct OTARetained: RetainedValue {
  /// The content that was selected last.
  var sent: OTASent?
  /// The number of bytes of this content in the device's flash after the upload.
  var durable = 0
  /// The reason why patches were abandoned for this device.
  var patchesGivenUp: PatchObstacle?
  /// The maximum write length, for a device that did not accept the length that its ATT_MTU
  /// permits.
  var chunkCeiling: Int?
  /// The maximum number of unacknowledged bytes; reduced after a request timed out while more bytes
  /// were unacknowledged.
  var windowCeiling: Int?

  /// The stream that was selected last; `nil` if the image itself was selected, or if nothing was
  /// selected yet in this update.
  var sentStream: OTAStream? {
    if case .stream(let sent) = sent { sent.stream } else { nil }
  }
}

extension RetainedState<OTARetained> {
  /// Abandons patches, so that the next transfer of this update sends the uncompressed image.
  /// Returns the fault of the current transfer.
  func givingUpPatches(_ obstacle: PatchObstacle) -> UpdateFault {
    update { $0.patchesGivenUp = obstacle }
    return .noPatch(obstacle)
  }

  /// Returns the fault of a session that the device ended, from the note in its Status.
  func ending(_ stage: UpdateStage, _ note: OTAStatus.Note) -> UpdateFault {
    switch note {
    case .flashFault: .declined(stage, .otaService(.flashFault))
    case .notAuthorized: .declined(stage, .otaService(.notAuthorized))
    case .patchRefused where value.sentStream != nil: givingUpPatches(.refused)
    // `.patchRefused` cannot apply to an uncompressed image; the other notes state no reason.
    case .patchRefused, .none, .gap, .overrun, .noSession:
      .declined(stage, .otaService(.wrongState))
    }
  }
}
