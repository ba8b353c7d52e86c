/// What an update tells while it runs, in order. The command line draws these and writes them as
/// JSON Lines; it decides nothing.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum UpdateEvent: Equatable, Sendable {
  /// A connection is being made; 1 for the first attempt in a row.
  case connecting(attempt: Int)
  /// The link stands.
  case connected(LinkReport)
  /// The device has told what it is and what it runs.
  case device(DeviceReport)
  /// A stage of the life cycle begins.
  case stageBegan(UpdateStage)
  /// A stage has ended well.
  case stageEnded(UpdateStage, took: Duration)
  /// Of a package with several images, the one that is sent next; `number` counts from 1.
  case part(name: String, number: Int, of: Int)
  /// A patch is being made, or waited for, and that takes longer than a second.
  case makingPatch
  /// What is sent to a device that takes something else than images, too.
  case delivery(DeliveryReport)
  /// The device made no image of what was sent instead; the image itself is sent now.
  case patchGivenUp(because: PatchObstacle)
  /// The transfer starts, or goes on, at `offset`. `resumed` is true when the device held a part.
  /// Bytes are those of the image, whatever is sent.
  case transferBegan(offset: Int, total: Int, resumed: Bool)
  /// The device has acknowledged the first `acknowledged` bytes (of `total`), or as much as it
  /// makes them of.
  case progress(acknowledged: Int, total: Int)
  /// What held the upload back since this was told last, or since it began: once a second at most.
  case flowing(TransferStretch)
  /// The device takes no data for a while (it erases or writes flash).
  case deviceBusy
  /// Sending went back because a data PDU was lost, or a block's CRC32 differed.
  case rewound(to: Int, because: RewindReason)
  /// The link was lost; it is made again after `retryIn`.
  case linkLost(reason: String, acknowledged: Int, attempt: Int, retryIn: Duration)
  /// The host has restarted the device, because its transfer can only begin anew; the link ended by
  /// that. `because` is a clause.
  case restarted(because: String, attempt: Int, retryIn: Duration)
  /// The update ended; nothing follows.
  case finished(UpdateResult)
}

/// The steps of the one life cycle that every protocol fills in.
public enum UpdateStage: String, Sendable, CaseIterable {
  /// Link, MTU, discovery; the device says what it runs and what it holds of an earlier transfer.
  case connect
  /// Challenge and proof, where the device has a key.
  case authorize
  /// The application hands over to the bootloader, where that is what takes the image.
  case detach
  /// Image and device are compared, and the image is announced.
  case prepare
  /// The image's bytes.
  case upload
  /// The device reads its flash back.
  case verify
  /// The device agrees to restart into the image.
  case activate
  /// The device is looked for.
  case reconnect
  /// What runs is read back; an image on trial is made permanent.
  case confirm
}

/// Why sending went back.
public enum RewindReason: String, Equatable, Sendable {
  /// A data PDU was lost on its way.
  case gap
  /// The device had no room for a data PDU.
  case overrun
  /// The CRC32 of a block differed.
  case blockChecksum = "block-checksum"
  /// The device said nothing for too long.
  case silence
}
