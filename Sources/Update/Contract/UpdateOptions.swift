import OtaflashATT
import OtaflashGATT

/// What the caller decides about an update. Every wait in it has its bound here.
public struct UpdateOptions: Sendable {
  /// `nil` = the one that the device offers and that can carry the image.
  public var updateProtocol: UpdateProtocol?
  /// With response, without, or without and a checkpoint in each window.
  public var mode = WriteMode.auto
  /// ATT_MTU to ask for, 23…517 bytes.
  public var mtu = 512
  /// Image bytes a data write; `nil` = as many as the mode is fastest with.
  public var chunk: Int?
  /// Bytes sent ahead of the last acknowledgement at most, one data write or more; `nil` = as many
  /// as the device permits.
  public var windowLimit: Int?
  /// Whether something shorter than the image may be sent, where the device makes the image of it.
  public var delta = DeltaPolicy.auto
  /// Where patches find the images that they are made against; `nil` = nowhere.
  public var bases: BaseFinder?
  /// A patch that makes the image, to be sent instead of one that is made here. Where it does not
  /// suit the device, `delta` says what becomes of the update.
  public var patch: PrebuiltPatch?
  /// The device's key, for a device that asks for authorization.
  public var key: [UInt8]?
  /// Send an image with a lower version than the one that runs.
  public var allowsDowngrade = false
  /// Send an image that is for another board.
  public var allowsOtherHardware = false
  /// Send an image although nobody says which version or hardware it is for. It is announced as
  /// version 0.0.0, or for the device's own hardware.
  public var allowsUnknown = false
  /// Discard what the device holds of an earlier transfer.
  public var startsOver = false
  /// Send even when the device runs this very image already.
  public var sendsAnyway = false
  /// Stop before the first byte.
  public var isDryRun = false
  /// Awaited on each connection over which something is to be sent: after the device was compared
  /// with the image, and before anything is written to it. Conditions of the caller's own, such as
  /// a battery level, are checked here. A thrown error ends the update.
  public var beforeTransfer:
    (@Sendable (DeviceReport, GATTClient) async throws(UpdateFault) -> Void)?
  /// Awaited each time before a device is told to start what it holds: who must record that it may
  /// run the new image does so here. What it throws ends the update; the device keeps what it has.
  public var beforeActivation: (@Sendable () async throws(UpdateFault) -> Void)?

  /// How a lost connection is taken up again. The count starts over whenever the device has
  /// acknowledged something new.
  public var reconnection = ReconnectionStrategy.exponential()
  /// 0 ..< 1, for what is drawn: the strategy's jitter, the name that a bootloader gets. `nil` =
  /// the clock's.
  public var random: (@Sendable () -> Double)?

  /// Without a sign from the device for this long, its Status is read.
  public var silenceLimit = Duration.seconds(1)
  /// The longest time that a device may get no further than it ever was in an upload: what it has
  /// taken, what is in its flash, what it permits. A page erase of 20 s (docs/ota-service.md, 10),
  /// and the way there and back.
  public var stallLimit = Duration.seconds(25)
  /// The longest time a device may be busy with its flash before and after the upload.
  public var busyLimit = Duration.seconds(60)
  /// The longest time for one control operation, VERIFY and ACTIVATE included.
  public var controlLimit = Duration.seconds(60)
  /// The longest time from activation to a device that answers again, beside what its bootloader
  /// may need to move images between slots: half a second a page of 4 KiB, or three times what
  /// sending them took.
  public var rebootLimit = Duration.seconds(60)
  /// The longest time for telling the device that a cancelled update is over.
  public var abortLimit = Duration.milliseconds(1500)

  /// The defaults.
  public init() {}
}
