import ArgumentParser
import OtaflashFirmware

/// What can be said of an image file without a device.
struct Image: GroupCommand {
  static let configuration = CommandConfiguration(
    commandName: "image",
    abstract: "Look at an image file; no device is needed.",
    subcommands: [ImageInfo.self, ImageVerify.self])

  @OptionGroup var global: GlobalOptions
}

/// Who says which version and hardware an image is for.
struct IdentityOptions: ParsableArguments, Sendable {
  @Option(
    name: .long, help: ArgumentHelp("The image's version, as 1.3.0.", valueName: "version"),
    transform: Self.version)
  var imageVersion: FirmwareVersion?

  @Option(
    name: .long, help: ArgumentHelp("The image's hardware, as 0x0000A001.", valueName: "id"),
    transform: Self.hardware)
  var hardware: HardwareID?

  private static func version(_ text: String) throws -> FirmwareVersion {
    guard let version = FirmwareVersion(text) else {
      throw ValidationError("'\(text)' is no version; write three numbers: 1.3.0")
    }
    return version
  }

  private static func hardware(_ text: String) throws -> HardwareID {
    guard let hardware = HardwareID(text) else {
      throw ValidationError("'\(text)' is no hardware id; write 0x0000A001 or a decimal number")
    }
    return hardware
  }

  var identity: ImageIdentity { ImageIdentity(version: imageVersion, hardware: hardware) }
}

struct ImageInfo: Subcommand {
  static let words = "image info"
  static let configuration = CommandConfiguration(
    commandName: "info", abstract: "Tell an image's format, size, checksum, version and hardware.")

  @Argument(help: "The image, or - for standard input.") var file: String
  @OptionGroup var identity: IdentityOptions
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(image: file) }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let image = try ImageSource.load(file, saying: identity.identity)
    session.console.event("image", image.members)
    for line in Text.table(image.facts) { session.console.result(line) }
    return .done("described")
  }
}

struct ImageVerify: Subcommand {
  static let words = "image verify"
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check that an image is whole and says what it is; fails otherwise.")

  @Argument(help: "The image, or - for standard input.") var file: String

  @Option(
    name: .long, help: ArgumentHelp("The CRC32 that the image must have.", valueName: "hex"),
    transform: Self.checksum)
  var crc32: UInt32?

  @OptionGroup var identity: IdentityOptions
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(image: file) }

  private static func checksum(_ text: String) throws -> UInt32 {
    let digits = text.lowercased().removingPrefix("0x") ?? text
    guard digits.count == 8, let value = UInt32(digits, radix: 16) else {
      throw ValidationError("'\(text)' is no CRC32; write 8 hex digits")
    }
    return value
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let image = try ImageSource.load(file, saying: identity.identity)
    session.console.event("image", image.members)
    if let crc32, crc32 != image.crc32 {
      throw .checksumDiffers(name: image.name, wanted: crc32, found: image.crc32)
    }
    guard image.version != nil else { throw .update(.versionUnknown) }
    guard image.hardware != nil else { throw .update(.hardwareUnknown) }
    session.console.result("\(image.summary)  whole")
    return .done("verified")
  }
}

extension FirmwareImage {
  /// `app-1.3.0.bin  266,112 B  crc32 9f2c01aa`
  var summary: String { "\(name)  \(Text.grouped(bytes.count)) B  crc32 \(Text.hex(crc32))" }

  var facts: [[String]] {
    [
      ["name", name], ["format", format.rawValue], ["size", Text.grouped(bytes.count) + " B"],
      ["crc32", Text.hex(crc32)], ["version", version?.description ?? "unknown"],
      ["hardware", hardware?.description ?? "unknown"],
    ]
  }

  var members: [JSONValue.Member] {
    JSONValue.fields([
      "name": .string(name), "format": .string(format.rawValue), "size": .integer(bytes.count),
      "crc32": .string(Text.hex(crc32)), "version": .text(version), "hardware": .text(hardware),
    ])
  }
}
