import OtaflashATT

/// What only a device with the SMP service has to set.
public struct SMPServerSettings: Hashable, Sendable {
  /// How MCUboot brings an image to run.
  public enum BootMode: String, CaseIterable, Sendable {
    /// One slot, which a recovery server in the bootloader writes.
    case single
    /// `MCUBOOT_SWAP_USING_SCRATCH`.
    case swapScratch = "swap-scratch"
    /// `MCUBOOT_OVERWRITE_ONLY`.
    case overwrite
    /// `MCUBOOT_SWAP_USING_MOVE`.
    case swapMove = "swap"
    /// The slot with the higher version runs where it lies.
    case directXIP = "direct-xip"
    /// `MCUBOOT_DIRECT_XIP_REVERT`.
    case directXIPRevert = "direct-xip-revert"
    /// `MCUBOOT_RAM_LOAD`.
    case ramLoad = "ram-load"
    /// A second application, the loader, writes the slot of the first.
    case firmwareLoader = "firmware-loader"

    /// As the bootloader's information numbers it (Zephyr, MCUmgr group 0, command 8).
    var number: Int32 {
      switch self {
      case .single: 0
      case .swapScratch: 1
      case .overwrite: 2
      case .swapMove: 3
      case .directXIP: 4
      case .directXIPRevert: 5
      case .ramLoad: 6
      case .firmwareLoader: 7
      }
    }

    /// Whether an image that nobody confirms is taken back at the next reset.
    var reverts: Bool {
      switch self {
      case .swapScratch, .swapMove, .directXIPRevert: true
      case .single, .overwrite, .directXIP, .ramLoad, .firmwareLoader: false
      }
    }

    /// Whether the version alone decides which slot runs.
    var choosesByVersion: Bool { self == .directXIP || self == .ramLoad }

    /// Whether the numbers of slots are places in flash, instead of 0 for the running one.
    var hasFixedSlots: Bool { choosesByVersion || self == .directXIPRevert }

    /// Whether the running image can only be replaced by another program.
    var needsRecovery: Bool { self == .single || self == .firmwareLoader }

    /// How often each page of an image is written before the image runs.
    var movesPerPage: Int {
      switch self {
      case .swapScratch: 3
      case .swapMove: 2
      case .overwrite: 1
      case .single, .directXIP, .directXIPRevert, .ramLoad, .firmwareLoader: 0
      }
    }
  }

  /// Whose rules the server follows.
  public enum Release: String, CaseIterable, Sendable {
    /// mcumgr as it was taken into Zephyr 2.7 and is still in Mynewt: the first version of the
    /// protocol, whole flash words, no errors above 9, no commands that came later.
    case mcumgr2021 = "2021"
    /// Zephyr's own of today.
    case zephyr2026 = "2026"
  }

  /// What image 1 runs on.
  public enum NetworkCore: String, CaseIterable, Sendable {
    /// A core without rules of its own.
    case none
    /// The network core of an nRF5340 under nRF Connect SDK 2.6.0 to 3.4.0: its image is skipped
    /// if the application's was marked before it (NCSDK-34106).
    case nrf5340
  }

  /// Where the firmware loader advertises.
  public enum LoaderAddress: String, CaseIterable, Sendable {
    /// At the application's address with the lowest bit flipped, as bare metal's does.
    case flipped
    /// At the application's, as that of the regular SDK does.
    case same
  }

  /// Network buffers, shared by requests and responses.
  public struct NetBuffers: Hashable, Sendable {
    /// How many there are.
    public var count: Int
    /// Bytes of the longest message, its header included.
    public var size: Int

    /// So many buffers of so many bytes.
    public init(count: Int, size: Int) {
      self.count = count
      self.size = size
    }
  }

  /// How the bootloader activates images.
  public var mode = BootMode.swapMove
  /// Images with two slots each: the application's, and those of other cores or parts.
  public var imageCount = 1
  /// The core that image 1 is for, and its bootloader's peculiarity.
  public var networkCore = NetworkCore.none
  /// Images beside the application's may be confirmed once they run
  /// (MCUMGR_GRP_IMG_ALLOW_CONFIRM_NON_ACTIVE_IMAGE_ANY).
  public var confirmsOtherImages = true
  /// `CONFIG_MCUMGR_TRANSPORT_NETBUF_COUNT` and `…_SIZE`.
  public var netBuffers = NetBuffers(count: 4, size: 2475)
  /// Where the firmware loader advertises.
  public var loaderAddress = LoaderAddress.flipped
  /// The application has the settings group, by which the firmware loader receives its name.
  public var hasSettings = true
  /// Messages may be longer than a write.
  public var reassembles = true
  /// Pages are erased as they are needed, instead of the slot before the first byte.
  public var erasesProgressively = false
  /// Whose rules the server follows; what it tells of itself and takes at once goes with it, where
  /// nothing else is said.
  public var release = Release.zephyr2026
  /// Bytes of which the server takes whole ones of every upload request but the last: 1, or the
  /// word of a flash that it writes without a buffer of its own. `nil` = as the release does.
  public var writeUnit: Int?
  /// An image that lies in the slot is known by its SHA-256 (IMG_ENABLE_IMAGE_CHECK), which the
  /// release of 2021 cannot.
  public var checksImages = true
  /// The server tells of its buffers; `nil` = as the release does.
  public var hasParameters: Bool?
  /// The server tells how the bootloader activates images; `nil` = as the release does.
  public var hasBootloaderInformation: Bool?
  /// The bootloader decompresses images that are compressed, instead of refusing them.
  public var decompresses = false
  /// The key that must have signed what is started; `nil` = the bootloader looks at no signature.
  var key: ImageKey?
  /// The bootloader starts no image with a lower version.
  public var forbidsDowngrade = false
  /// Requests of the image group that are refused as busy before one is carried out.
  public var busyRequests = 0
  /// The server refuses messages of the second version as too new.
  public var isVersion1 = false

  /// A server with the defaults above.
  public init() {}

  /// Bytes of a flash word that a server of 2021 has, as on an nRF52.
  private static let flashWord = 4

  var unit: Int { writeUnit ?? (release == .mcumgr2021 ? Self.flashWord : 1) }
  var tellsBuffers: Bool { hasParameters ?? (release == .zephyr2026) }
  var tellsBootloader: Bool { hasBootloaderInformation ?? (release == .zephyr2026) }
  var comparesImages: Bool { checksImages && release == .zephyr2026 }
}

extension SMPServerSettings: KindSettings {
  static let presets = [
    ProfilePreset(
      name: "smp", summary: "a Zephyr device with the SMP service and MCUboot",
      device: .smpServer(SMPServerSettings())
    ) { $0.mtu = 498 }
  ]

  static let keys: [KindKey<Self>] = [
    KindKey("mode", "how MCUboot starts images", \.mode),
    KindKey("images", "images with two slots each", "1 or 2", \.imageCount) {
      Int($0).filter { (1...2).contains($0) }
    },
    KindKey("netcore", "the core that image 1 is for", \.networkCore),
    KindKey(
      "confirm-others", "images beside the application may be confirmed", \.confirmsOtherImages),
    KindKey(
      "netbufs", "buffers that requests and responses share",
      "count and size such as 4x384, 2 to 64 of 64 to 16384 bytes", \.netBuffers,
      netBuffers),
    KindKey("reassembly", "messages may be longer than a write", \.reassembles),
    KindKey("progressive", "pages are erased as they are needed", \.erasesProgressively),
    KindKey(
      "unit", "bytes of which uploads are taken whole ones", "a power of two up to 512",
      \.writeUnit
    ) { Int($0).filter { (1...512).contains($0) && $0.nonzeroBitCount == 1 } },
    KindKey("check", "images are compared with their SHA-256", \.checksImages),
    KindKey("server", "whose rules the server follows, by their year", \.release),
    KindKey("params", "the server tells of its buffers", "yes or no", \.hasParameters, yesOrNo),
    KindKey(
      "bootinfo", "the server tells of the bootloader", "yes or no", \.hasBootloaderInformation,
      yesOrNo),
    KindKey("decompress", "the bootloader decompresses images", \.decompresses),
    KindKey(
      "signed", "the public key that must have signed images",
      "root-rsa-2048, root-ec-p256 or root-ed25519 (MCUboot's own), or a public key's DER in "
        + "hexadecimal digits", \.key
    ) { ImageKey($0).map { $0 } },
    KindKey("no-downgrade", "lower versions are never started", \.forbidsDowngrade),
    KindKey(
      "busy", "writes to images refused as busy at first", "a count of requests, or 0",
      \.busyRequests
    ) { Int($0).filter { $0 >= 0 } },
    KindKey("loader-address", "where the firmware loader advertises", \.loaderAddress),
    KindKey(
      "settings", "the settings group sets the name of the firmware loader", \.hasSettings),
    KindKey("v1", "messages of version 2 are refused", \.isVersion1),
  ]

  static let foreignKeys: Set<ProfileKey> = [.ring, .hardware, .key, .trial]

  static let faults = Fault.ofAnyDevice.union([
    .repeatOffset, .jumpBack, .beyondEnd, .otherImage, .nonsense,
  ])

  var service: BluetoothUUID { SMPProgram.service }
  var applicationName: String { "Zephyr" }

  func makeFirmware(of parts: BoardParts) throws(FlashFault) -> any BoardFirmware {
    try SMPFirmware(self, of: parts)
  }

  private static func yesOrNo(_ text: String) -> Bool?? {
    ["yes": true, "no": false][text].map { $0 }
  }

  private static func netBuffers(_ text: String) -> NetBuffers? {
    let parts = text.split(separator: "x", omittingEmptySubsequences: false)
    guard parts.count == 2, let count = Quantity.count(String(parts[0])),
      let size = Quantity.size(String(parts[1])), (2...64).contains(count),
      (64...16_384).contains(size)
    else { return nil }
    return NetBuffers(count: count, size: size)
  }
}

extension DeviceKind {
  /// A Zephyr application with the SMP service, and MCUboot.
  public static func smpServer(_ settings: SMPServerSettings) -> DeviceKind {
    DeviceKind(settings)
  }
}

extension Optional {
  fileprivate func filter(_ isKept: (Wrapped) -> Bool) -> Wrapped? {
    flatMap { isKept($0) ? $0 : nil }
  }
}
