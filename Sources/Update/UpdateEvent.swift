import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// What an update tells while it runs, in order. The command line draws these and writes them as
/// JSON Lines; it decides nothing.
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
  /// The transfer starts, or goes on, at `offset`. `resumed` is true when the device held a part.
  case transferBegan(offset: Int, total: Int, resumed: Bool)
  /// The device has acknowledged `acknowledged` octets in order (of `total`).
  case progress(acknowledged: Int, total: Int)
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
  /// The application hands over to the boot loader, where that is what takes the image.
  case detach
  /// Image and device are compared, and the image is announced.
  case prepare
  /// The image's octets.
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

/// What is known of the link once connected. `nil` = the transport cannot tell.
public struct LinkReport: Equatable, Sendable {
  /// ATT_MTU in octets, 23…517.
  public var mtu: Int
  /// The PHY in use.
  public var phy: PHY?
  /// The time between two connection events.
  public var connectionInterval: Duration?
  /// Octets of payload in one link-layer packet, 27…251.
  public var linkLayerPayload: Int?
  /// Connection events that the device may skip.
  public var peripheralLatency: Int?
  /// How long the device may be silent before the link counts as lost.
  public var supervisionTimeout: Duration?

  /// A report; what the transport cannot tell is `nil`.
  public init(
    mtu: Int, phy: PHY? = nil, connectionInterval: Duration? = nil,
    linkLayerPayload: Int? = nil, peripheralLatency: Int? = nil,
    supervisionTimeout: Duration? = nil
  ) {
    self.mtu = mtu
    self.phy = phy
    self.connectionInterval = connectionInterval
    self.linkLayerPayload = linkLayerPayload
    self.peripheralLatency = peripheralLatency
    self.supervisionTimeout = supervisionTimeout
  }

  /// What is known of a client's link now.
  init(of client: GATTClient) {
    let facts = client.linkFacts
    self.init(
      mtu: client.mtu, phy: facts.phy,
      connectionInterval: facts.connectionInterval,
      linkLayerPayload: facts.linkLayerPayload, peripheralLatency: facts.peripheralLatency,
      supervisionTimeout: facts.supervisionTimeout)
  }
}

/// What the device says of itself before anything is sent.
public struct DeviceReport: Equatable, Sendable {
  /// The part of an earlier transfer that the device still holds.
  public struct ResumePoint: Equatable, Sendable {
    /// In octets, of the whole image.
    public var imageSize: Int
    /// Of the whole image, as it was announced.
    public var imageCRC32: UInt32
    /// Octets held, from the image's beginning on.
    public var offset: Int
    /// Of the octets held.
    public var heldCRC32: UInt32

    /// What a device holds of an image.
    public init(imageSize: Int, imageCRC32: UInt32, offset: Int, heldCRC32: UInt32) {
      self.imageSize = imageSize
      self.imageCRC32 = imageCRC32
      self.offset = offset
      self.heldCRC32 = heldCRC32
    }
  }

  /// How the device's last start went, as its boot loader says.
  public enum BootOutcome: String, Sendable {
    /// As usual.
    case normal
    /// The last activation was carried out.
    case activated
    /// The last activation was rejected, or carried out and reverted.
    case rejected
  }

  /// The protocol that is spoken.
  public var updateProtocol: UpdateProtocol
  /// The protocol's version, as the device tells it.
  public var protocolVersion: Int
  /// The board's id; `nil` where nobody tells.
  public var hardware: HardwareID?
  /// The version that runs; `nil` where nobody tells.
  public var runningVersion: FirmwareVersion?
  /// The build number behind it, where the device tells one.
  public var runningBuild: UInt32?
  /// Of the image that runs.
  public var runningCRC32: UInt32?
  /// The largest image, in octets.
  public var slotSize: Int?
  /// Of its flash, in octets.
  public var pageSize: Int?
  /// Image octets in one write, at most.
  public var largestChunk: Int?
  /// Octets that the device takes ahead of its flash.
  public var bufferSize: Int?
  /// An update must prove a key.
  public var needsAuthorization: Bool
  /// How its last start went; `nil` where nobody tells.
  public var lastBoot: BootOutcome?
  /// The image that runs has not been confirmed yet.
  public var isOnTrial: Bool
  /// `nil` where the device holds nothing of an image.
  public var resumePoint: ResumePoint?
  /// What the slots of a device with MCUboot hold; empty where nobody tells.
  public var slots: [SlotReport] = []
  /// Requests that the device has room for.
  public var bufferCount: Int?
  /// How a boot loader of MCUboot activates images; `nil` for other devices.
  public var bootLoaderMode: SMPBootloaderMode?

  /// A report of which nothing but the protocol is known yet.
  public init(_ updateProtocol: UpdateProtocol, protocolVersion: Int) {
    self.updateProtocol = updateProtocol
    self.protocolVersion = protocolVersion
    needsAuthorization = false
    isOnTrial = false
  }
}

/// How an update ended well.
public struct UpdateResult: Equatable, Sendable {
  /// What the update has done.
  public enum Outcome: String, Sendable {
    /// Sent, activated, and the new image was seen running.
    case flashed
    /// The device runs this very image already, by its hash or CRC32; or, where no device tells
    /// these, by its version. Nothing was sent.
    case alreadyCurrent = "already-current"
    /// A dry run: nothing stands in the way.
    case wouldFlash = "would-flash"
  }

  /// What the update has done.
  public var outcome: Outcome
  /// The version that ran before; `nil` where nobody tells.
  public var from: FirmwareVersion?
  /// The image's version; `nil` where nobody says.
  public var to: FirmwareVersion?
  /// How it is known that the new image runs.
  public enum Proof: String, Sendable {
    /// It is not: nothing was sent.
    case none
    /// The device restarted out of its boot loader, which had checked the image and starts no
    /// other. What the application tells of itself, if anything, it told before, too.
    case bootLoader = "boot-loader"
    /// The same, and what the application tells of itself (Device Information, Database Hash) is
    /// not what was told before the update. That it belongs to the image, nobody says.
    case changed
    /// The same, and the application tells the image's version, which did not run before as far as
    /// that was told. Its octets were compared by the boot loader alone.
    case version
    /// What runs was read after the restart, and is the image that was sent, by its hash or CRC32.
    case readBack = "read-back"
  }

  /// How it is known that the new image runs.
  public var proof: Proof
  /// The new image is known to run.
  public var isVerified: Bool { proof != .none }
  /// The whole run.
  public var took: Duration
  /// Octets of image sent in this run, repeats included, and the time of the upload stage alone.
  public var octetsSent: Int
  /// The time of the upload stage alone.
  public var uploadTook: Duration
  /// How often the transfer was taken up again in the middle.
  public var resumes: Int
  /// What only the device's user can do so that the new image outlives the next restart: one whole
  /// sentence. `nil` where nothing is needed.
  public var validation: String?

  /// A result, as a test of an app may want one.
  public init(
    outcome: Outcome, from: FirmwareVersion?, to: FirmwareVersion?, proof: Proof,
    took: Duration, octetsSent: Int, uploadTook: Duration, resumes: Int, validation: String? = nil
  ) {
    self.outcome = outcome
    self.from = from
    self.to = to
    self.proof = proof
    self.took = took
    self.octetsSent = octetsSent
    self.uploadTook = uploadTook
    self.resumes = resumes
    self.validation = validation
  }
}
