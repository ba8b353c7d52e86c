/// The events of a running update, in order. The command line displays the events, and writes them
/// as JSON Lines.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum UpdateEvent: Equatable, Sendable {
  /// A connection attempt starts; `attempt` counts consecutive attempts from 1.
  case connecting(attempt: Int)
  /// The link is established.
  case connected(LinkReport)
  /// The device has reported its type and its running version.
  case device(DeviceReport)
  /// A stage of the life cycle starts.
  case stageBegan(UpdateStage)
  /// A stage has succeeded.
  case stageEnded(UpdateStage, took: Duration)
  /// An image of a package is sent next; `number` counts from 1.
  case part(name: String, number: Int, of: Int)
  /// The creation of shorter content, or the wait for it, takes longer than a second.
  case creatingContent
  /// The content was chosen for a device that supports a delivery method, or a requested delivery
  /// method cannot be used.
  case delivery(DeliveryReport)
  /// The delivery of the content failed; the image itself is sent now.
  case deliveryGivenUp(because: DeliveryObstacle)
  /// The transfer starts or resumes at `offset`, in bytes of the image. `resumed` is true if the
  /// device held a part.
  case transferBegan(offset: Int, total: Int, resumed: Bool)
  /// The device has acknowledged the first `acknowledged` bytes (of `total`) of the image, or the
  /// corresponding part of a stream.
  case progress(acknowledged: Int, total: Int)
  /// The flow of the upload since the last event of this kind, which occurs once a second at most.
  case flowing(TransferStretch)
  /// The device accepts no data for a while (it erases or writes flash).
  case deviceBusy
  /// Sending went back to an earlier offset, for example because a data PDU was lost.
  case rewound(to: Int, because: RewindReason)
  /// The link was lost; the next attempt to connect starts after `retryIn`.
  case linkLost(reason: String, acknowledged: Int, attempt: Int, retryIn: Duration)
  /// The host restarted the device because the transfer must start over; the restart ended the
  /// link. `because` is a clause.
  case restarted(because: String, attempt: Int, retryIn: Duration)
  /// The update succeeded; no event follows.
  case finished(UpdateResult)
}

/// The stages of an update, of a file transfer, and of a single request.
public enum UpdateStage: String, Sendable, CaseIterable {
  /// The host connects, exchanges the MTU and discovers the services. The device reports its
  /// version and the state of an earlier transfer.
  case connect
  /// The host proves to a device with a key that it knows this key.
  case authorize
  /// The application restarts into the bootloader, if the bootloader receives the image.
  case detach
  /// Image and device are compared, and the image is announced.
  case prepare
  /// The bytes of the image are sent.
  case upload
  /// The bytes of a file are read from the device.
  case download
  /// The device performs a single request, such as reading a setting.
  case request
  /// The device or the host checks the received bytes, for example by a checksum.
  case verify
  /// The device agrees to restart into the image.
  case activate
  /// The host waits for the restart of the device, and reconnects to the device.
  case reconnect
  /// The host checks which image runs, and makes an image on trial permanent.
  case confirm
}

/// The reason why sending went back.
public enum RewindReason: String, Equatable, Sendable {
  /// A data PDU was lost.
  case gap
  /// The device had no buffer space for a data PDU.
  case overrun
  /// The CRC32 of a block differed.
  case blockChecksum = "block-checksum"
  /// The device was silent for too long.
  case silence
}
