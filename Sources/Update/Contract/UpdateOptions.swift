import OtaflashATT
import OtaflashGATT

/// The caller's decisions about an update. Every wait of an update has its limit here.
public struct UpdateOptions: Sendable {
  /// `nil` = the protocol that the device offers and that supports the image.
  public var updateProtocol: UpdateProtocol?
  /// With response, without response, or without response and with a checkpoint in each window.
  public var mode = WriteMode.auto
  /// ATT_MTU to ask for, 23…517 bytes.
  public var mtu = 512
  /// Image bytes per data write; `nil` = the fastest size for the mode.
  public var chunk: Int?
  /// The maximum number of bytes ahead of the last acknowledgement, one data write or more; `nil` =
  /// as many as the device permits.
  public var windowLimit: Int?
  /// The method that delivers the image, for devices that support it; `nil` = as the protocol and
  /// the device permit.
  public var delivery: (any DeliveryOptions)?
  /// The device's key, for a device that requires authorization.
  public var key: [UInt8]?
  /// Send an image with a lower version than the running one.
  public var allowsDowngrade = false
  /// Send an image for another board.
  public var allowsOtherHardware = false
  /// Send an image without a version or hardware id. It is announced as version 0.0.0, or for the
  /// device's own hardware.
  public var allowsUnknown = false
  /// Discard the part of an earlier transfer that the device holds.
  public var startsOver = false
  /// Send the image even if the device already runs it.
  public var sendsAnyway = false
  /// Stop before the first byte.
  public var isDryRun = false
  /// Awaited on each connection that is to send data: after the comparison of device and image, and
  /// before the first write. The caller checks custom conditions here, such as a battery level. A
  /// thrown error ends the update.
  public var beforeTransfer:
    (@Sendable (DeviceReport, GATTClient) async throws(UpdateFault) -> Void)?
  /// Awaited before each request to start a new image. A caller that must record the possible start
  /// of the image does so here. A thrown error ends the update; the device keeps what it holds.
  public var beforeActivation: (@Sendable () async throws(UpdateFault) -> Void)?

  /// The strategy after a lost connection. The count restarts when the device has acknowledged new
  /// bytes.
  public var reconnection = ReconnectionStrategy.exponential()
  /// Returns a random value in 0 ..< 1, for the strategy's jitter and the name of a bootloader.
  /// `nil` = the clock's source.
  public var random: (@Sendable () -> Double)?

  /// After this time without a message from the device, its Status is read.
  public var silenceLimit = Duration.seconds(1)
  /// The longest time without progress of the device in an upload: acknowledged, durable and
  /// permitted bytes. The default covers a page erase of 20 s (docs/ota-service.md, 10) and the
  /// round trip.
  public var stallLimit = Duration.seconds(25)
  /// The longest time that a device may be busy with its flash before and after the upload.
  public var busyLimit = Duration.seconds(60)
  /// The longest time for one control operation, VERIFY and ACTIVATE included.
  public var controlLimit = Duration.seconds(60)
  /// The longest time from activation until the device answers again. The time that its bootloader
  /// may need to move images between slots is added: half a second per page of 4 KiB, or three
  /// times the time of the upload.
  public var rebootLimit = Duration.seconds(60)
  /// The longest time to notify the device that a cancelled update is over.
  public var abortLimit = Duration.milliseconds(1500)

  /// The defaults.
  public init() {}
}
