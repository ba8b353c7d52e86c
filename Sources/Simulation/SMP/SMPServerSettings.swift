import OtaflashATT
import OtaflashWire

/// The settings of a device with the SMP service.
public struct SMPServerSettings: Hashable, Sendable {
  /// The way in which MCUboot activates an image.
  public enum BootMode: String, CaseIterable, Sendable {
    /// One slot, which the recovery server in the bootloader writes.
    case single
    /// `MCUBOOT_SWAP_USING_SCRATCH`.
    case swapScratch = "swap-scratch"
    /// `MCUBOOT_OVERWRITE_ONLY`.
    case overwrite
    /// `MCUBOOT_SWAP_USING_MOVE`.
    case swapMove = "swap"
    /// The slot with the higher version runs without being moved.
    case directXIP = "direct-xip"
    /// `MCUBOOT_DIRECT_XIP_REVERT`.
    case directXIPRevert = "direct-xip-revert"
    /// `MCUBOOT_RAM_LOAD`.
    case ramLoad = "ram-load"
    /// A second application, the loader, writes the slot of the first application.
    case firmwareLoader = "firmware-loader"

    /// The number in the bootloader information (Zephyr, MCUmgr group 0, command 8).
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

    /// Whether the next reset reverts an unconfirmed image.
    var reverts: Bool {
      switch self {
      case .swapScratch, .swapMove, .directXIPRevert: true
      case .single, .overwrite, .directXIP, .ramLoad, .firmwareLoader: false
      }
    }

    /// Whether the application writes the second slot, and runs from the first.
    var runsFromFirstSlot: Bool {
      switch self {
      case .swapScratch, .swapMove, .overwrite: true
      case .single, .directXIP, .directXIPRevert, .ramLoad, .firmwareLoader: false
      }
    }

    /// Whether only the version selects the slot.
    var choosesByVersion: Bool { self == .directXIP || self == .ramLoad }

    /// Whether slot numbers denote positions in flash; otherwise 0 is the running slot.
    var hasFixedSlots: Bool { choosesByVersion || self == .directXIPRevert }

    /// Whether only the bootloader or the firmware loader can replace the application.
    var needsRecovery: Bool { self == .single || self == .firmwareLoader }

    /// The number of writes of each page of an image before the image runs.
    var movesPerPage: Int {
      switch self {
      case .swapScratch: 3
      case .swapMove: 2
      case .overwrite: 1
      case .single, .directXIP, .directXIPRevert, .ramLoad, .firmwareLoader: 0
      }
    }
  }

  /// The release whose rules the server follows.
  public enum Release: String, CaseIterable, Sendable {
    /// mcumgr as adopted by Zephyr 2.7 and still used in Mynewt: the first version of the protocol,
    /// complete flash words, no errors above 9, no commands that were added later.
    case mcumgr2021 = "2021"
    /// The current server of Zephyr.
    case zephyr2026 = "2026"
  }

  /// The core of image 1.
  public enum NetworkCore: String, CaseIterable, Sendable {
    /// A core without special rules.
    case none
    /// The network core of an nRF5340 under nRF Connect SDK 2.6.0 to 3.4.0: its image is skipped if
    /// the application's image was marked before it (NCSDK-34106).
    case nrf5340
  }

  /// The address at which the firmware loader advertises.
  public enum LoaderAddress: String, CaseIterable, Sendable {
    /// The application's address with the lowest bit flipped, as in the bare-metal SDK.
    case flipped
    /// The application's address, as in the regular SDK.
    case same
  }

  /// Network buffers, shared by requests and responses.
  public struct NetBuffers: Hashable, Sendable {
    /// The number of buffers.
    public var count: Int
    /// The maximum size of a message in bytes, including its header.
    public var size: Int

    /// Creates the settings of `count` buffers of `size` bytes.
    public init(count: Int, size: Int) {
      self.count = count
      self.size = size
    }
  }

  /// The way in which the bootloader activates images.
  public var mode = BootMode.swapMove
  /// The number of images with two slots each: the application's image, and the images of other
  /// cores or parts.
  public var imageCount = 1
  /// The core of image 1, with the special rules of its bootloader.
  public var networkCore = NetworkCore.none
  /// Whether images other than the application's image may be confirmed after they run
  /// (MCUMGR_GRP_IMG_ALLOW_CONFIRM_NON_ACTIVE_IMAGE_ANY).
  public var confirmsOtherImages = true
  /// `CONFIG_MCUMGR_TRANSPORT_NETBUF_COUNT` and `…_SIZE`.
  public var netBuffers = NetBuffers(count: 4, size: 2475)
  /// The address at which the firmware loader advertises.
  public var loaderAddress = LoaderAddress.flipped
  /// Whether the application has the settings group, which sets the name of the firmware loader.
  public var hasSettings = true
  /// The size of the application's file system in bytes, including 8 KiB for its directory; 0 = the
  /// application has no file group.
  public var fileSystemSize = 64 * 1024
  /// The checksums of the file group; the first is the default.
  package var fileChecksums: [SMPFiles.ChecksumType] = [.crc32, .sha256]
  /// Whether the file group reports the lengths of files (CONFIG_MCUMGR_GRP_FS_FILE_STATUS).
  public var reportsFileStatus = true
  /// The time without requests after which an open file is closed.
  public var fileIdleTime = Duration.seconds(1)
  /// Whether the application has the statistics group.
  public var hasStatistics = true
  /// Whether the application has a real-time clock. The clock is not set after a loss of power.
  public var hasClock = true
  /// Whether the application has the shell group.
  package var hasShell = false
  /// Whether a message may be longer than one write.
  public var reassembles = true
  /// Whether each page is erased when its data arrives, instead of all pages of the image before
  /// the first byte.
  public var erasesProgressively = false
  /// The release whose rules the server follows. The release determines the defaults of
  /// `hasParameters`, `hasBootloaderInformation` and `writeUnit`.
  public var release = Release.zephyr2026
  /// The unit of upload data in bytes: of every upload request except the last, the server accepts
  /// only complete units. 1, or the flash word of a server that writes without a buffer; `nil` =
  /// the default of the release.
  public var writeUnit: Int?
  /// Whether an image in the slot is verified by its SHA-256 (IMG_ENABLE_IMAGE_CHECK), which the
  /// release of 2021 does not support.
  public var checksImages = true
  /// Whether the server reports its buffers; `nil` = the default of the release.
  public var hasParameters: Bool?
  /// Whether the server reports the activation mode of the bootloader; `nil` = the default of the
  /// release.
  public var hasBootloaderInformation: Bool?
  /// Whether the bootloader decompresses compressed images instead of rejecting them. MCUboot does
  /// so only in the mode `overwrite`, which this setting therefore requires.
  public var decompresses = false
  /// The key with which an image must be signed; `nil` = the bootloader verifies no signature.
  var key: ImageKey?
  /// Whether the bootloader never starts an image with a lower version.
  public var forbidsDowngrade = false
  /// The number of write requests to the image group that the server rejects as busy after each
  /// boot. A server of 2021 rejects no request as busy.
  public var busyRequests = 0
  /// Whether the server rejects messages of the second version as too new.
  public var isVersion1 = false
  /// Whether the application also accepts patches, over the OTA service (docs/ota-service.md). Only
  /// an application whose bootloader swaps or overwrites the slots offers this service.
  public var takesPatches = false

  /// Creates the settings with the default values.
  public init() {}

  var dataPages: Int { fileSystemSize / BoardSettings.pageSize }

  /// The size in bytes of a flash word in a server of 2021, as on an nRF52.
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
    KindKey("mode", "the way in which MCUboot starts images", \.mode),
    KindKey("images", "images with two slots each", "1 or 2", \.imageCount) {
      Int($0).filter { (1...2).contains($0) }
    },
    KindKey("netcore", "the core of image 1", \.networkCore),
    KindKey(
      "confirm-others", "images of other cores may be confirmed", \.confirmsOtherImages),
    KindKey(
      "netbufs", "the buffers shared by requests and responses",
      "count and size such as 4x384, 2 to 64 of 64 to 16384 bytes", \.netBuffers,
      netBuffers),
    KindKey("reassembly", "messages may be longer than a write", \.reassembles),
    KindKey("progressive", "pages are erased progressively", \.erasesProgressively),
    KindKey(
      "unit", "the unit of accepted upload data", "a power of two up to 512",
      \.writeUnit
    ) { Int($0).filter { (1...512).contains($0) && $0.nonzeroBitCount == 1 } },
    KindKey("check", "images are verified by their SHA-256", \.checksImages),
    KindKey("server", "the release whose rules the server follows", \.release),
    KindKey("params", "the server reports its buffers", "yes or no", \.hasParameters, yesOrNo),
    KindKey(
      "bootinfo", "the server reports the bootloader", "yes or no", \.hasBootloaderInformation,
      yesOrNo),
    KindKey(
      "decompress", "the bootloader decompresses images, with mode=overwrite", \.decompresses),
    KindKey(
      "signed", "images must be signed with the private half of this public key",
      "root-rsa-2048, root-ec-p256 or root-ed25519 (MCUboot's own), or a public key's DER in "
        + "hexadecimal digits", \.key
    ) { ImageKey($0).map { $0 } },
    KindKey("no-downgrade", "lower versions are never started", \.forbidsDowngrade),
    KindKey(
      "busy", "the number of initial image writes that are rejected as busy",
      "a count of requests, or 0", \.busyRequests
    ) { Int($0).filter { $0 >= 0 } },
    KindKey("loader-address", "the advertising address of the firmware loader", \.loaderAddress),
    KindKey(
      "settings", "the settings group, which also sets the name of the firmware loader",
      \.hasSettings),
    KindKey(
      "files", "the size of the file system", "a size from 16K to 16M such as 1M, or no",
      \.fileSystemSize, fileSystemSize),
    KindKey(
      "checksums", "the checksums of files", "crc32, sha256, both or no", \.fileChecksums
    ) {
      ["crc32": [.crc32], "sha256": [.sha256], "both": [.crc32, .sha256], "no": []][$0]
    },
    KindKey("file-status", "the lengths of files are reported", \.reportsFileStatus),
    KindKey(
      "file-idle", "the time after which an open file is closed", "a time such as 1s",
      \.fileIdleTime
    ) { Quantity.duration($0) },
    KindKey("stats", "the statistics group", \.hasStatistics),
    KindKey("rtc", "the application has a real-time clock", \.hasClock),
    KindKey("shell", "the application has a shell (no)", \.hasShell),
    KindKey("v1", "messages of version 2 are rejected", \.isVersion1),
    KindKey(
      "patches", "the application also has the OTA service, for patches", \.takesPatches),
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

  private static func fileSystemSize(_ text: String) -> Int? {
    guard text != "no" else { return 0 }
    return Quantity.size(text).filter {
      (16_384...16_777_216).contains($0) && $0.isMultiple(of: BoardSettings.pageSize)
    }
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
  /// Returns a Zephyr device with the SMP service and MCUboot.
  public static func smpServer(_ settings: SMPServerSettings) -> DeviceKind {
    DeviceKind(settings)
  }
}

extension Optional {
  fileprivate func filter(_ isKept: (Wrapped) -> Bool) -> Wrapped? {
    flatMap { isKept($0) ? $0 : nil }
  }
}
