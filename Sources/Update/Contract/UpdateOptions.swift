import OtaflashATT
import OtaflashGATT

/// The caller's decisions about an update, including the limits of all its waits.
public struct UpdateOptions: Sendable {
  /// The protocol to use; `nil` = the protocol that the device offers and that supports the image.
  public var updateProtocol: UpdateProtocol?
  /// The write mode: with response, without response, or without response except for the last
  /// write of each window.
  public var mode = WriteMode.auto
  /// The ATT_MTU to request, 23…517 bytes.
  public var mtu = 512
  /// The number of image bytes per data write; `nil` = the fastest size for the mode.
  public var chunk: Int?
  /// The maximum number of unacknowledged bytes, one data write or more; `nil` = as many as the
  /// device permits.
  public var windowLimit: Int?
  /// The method that delivers the image to devices that support this method; `nil` = the session
  /// chooses among the methods of the device.
  public var delivery: (any DeliveryOptions)?
  /// Options that only one protocol reads, at most one value of each type.
  var protocolOptions: [any ProtocolOptions] = []
  /// The device's key, for a device that requires authorization.
  public var key: [UInt8]?
  /// Whether to send an image with a lower version than the running image.
  public var allowsDowngrade = false
  /// Whether to send an image for another board.
  public var allowsOtherHardware = false
  /// Whether to send an image without a version or hardware id. The host announces 0.0.0 instead of
  /// a missing version, and the id of the device instead of a missing hardware id.
  public var allowsUnknown = false
  /// Whether to discard the part of an earlier transfer that the device holds.
  public var startsOver = false
  /// Whether to send the image even if the device already runs it.
  public var sendsAnyway = false
  /// Whether to stop before the first byte is sent.
  public var isDryRun = false
  /// A callback for custom conditions, such as a battery level. The update awaits this callback on
  /// each connection to a device that needs the image, even in a dry run: after the comparison of
  /// device and image, and before authorization, a restart into the bootloader, or the announcement
  /// of the image. A thrown error ends the update.
  public var beforeTransfer:
    (@Sendable (DeviceReport, GATTClient) async throws(UpdateFault) -> Void)?
  /// A callback for a caller that must record the possible start of the image. The update awaits
  /// this callback before each request to start a new image. A thrown error ends the update, and
  /// the device keeps the received data.
  public var beforeActivation: (@Sendable () async throws(UpdateFault) -> Void)?

  /// The strategy for reconnecting after a lost link. The count of attempts restarts when a new
  /// connection shows that the device has kept new bytes.
  public var reconnection = ReconnectionStrategy.exponential()
  /// A source of random values in 0 ..< 1, for example for the jitter of `reconnection` and for the
  /// name of a bootloader; `nil` = the source of the clock.
  public var random: (@Sendable () -> Double)?

  /// The time without a message from the device after which the host requests the progress of the
  /// transfer.
  public var silenceLimit = Duration.seconds(1)
  /// The longest time of an upload without progress, which is measured in acknowledged, durable and
  /// permitted bytes. The default covers a page erase of 20 s (docs/ota-service.md, 10) and the
  /// round trip.
  public var stallLimit = Duration.seconds(25)
  /// The longest time that a device may be busy with its flash before and after the upload. If a
  /// device erases its flash during the upload, this time is added to `stallLimit`.
  public var busyLimit = Duration.seconds(60)
  /// The longest time for one control operation, such as ACTIVATE. The limit of VERIFY is higher if
  /// the device needs more time to read back the image.
  public var controlLimit = Duration.seconds(60)
  /// The longest time from activation until the device answers again. The update adds the time that
  /// the bootloader may need to move images between slots: half a second per page of 4 KiB or, over
  /// SMP, three times the time of the upload if this is longer.
  public var rebootLimit = Duration.seconds(60)
  /// The time limit for notifying the device that the update was cancelled.
  public var abortLimit = Duration.milliseconds(1500)

  /// The defaults.
  public init() {}
}
