import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware

struct ImageVerify: Subcommand {
  static let words = "image verify"
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check that a firmware file is whole and says what it is; fails otherwise.",
    discussion: """
      MCUboot images and Nordic init packets carry hashes, which are compared. With a key, every \
      image must be signed by its owner. Of other images version and hardware must be known. Of an \
      encrypted image the structure alone is checked.
      """)

  @Argument(help: "The firmware file, or - for standard input.") var file: String

  @Option(
    name: .long, help: ArgumentHelp("The CRC32 that the image must have.", valueName: "hex"),
    transform: Self.checksum)
  var crc32: UInt32?

  @OptionGroup var signer: SignerOption
  @OptionGroup var identity: IdentityOptions
  @OptionGroup var addresses: RegionOption
  @OptionGroup var board: ImageTargetOptions
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
    let package = try ImageSource.loadPackage(
      file, saying: identity.identity, in: addresses.region, session)
    session.console.event(package)
    if let crc32 { try compare(crc32, with: package) }
    try ImageSource.prove(package, signedBy: signer.key)
    try ImageSource.check(package, isFor: board.board)
    try ImageSource.checkContent(of: package)
    for part in package.parts { try Self.requireIdentity(of: part) }
    for part in package.parts {
      let proof = signer.key == nil ? part.proofWithoutKey : "whole, signed by the key"
      session.console.result("\(part.summary)  \(proof)")
    }
    // No hash of an encrypted image can be compared here.
    let isProven = package.parts.allSatisfy { $0.encryptionNote == nil }
    return .done(isProven ? "verified" : "structure-verified")
  }

  private func compare(
    _ wanted: UInt32, with package: FirmwarePackage
  ) throws(CommandFault) {
    let image: FirmwareImage
    do throws(FirmwareFault) { image = try package.onlyImage() } catch {
      throw .image(.malformed(path: file, error))
    }
    guard wanted == image.crc32 else {
      throw .checksumDiffers(name: image.name, wanted: wanted, found: image.crc32)
    }
  }

  /// What a bootloader's own format says is enough for one; of other images somebody must say it.
  private static func requireIdentity(of part: FirmwareImage) throws(CommandFault) {
    guard case .plain = part.content else { return }
    guard part.version != nil, part.hardware != nil else {
      throw .identityUnknown(
        name: part.name, version: part.version == nil, hardware: part.hardware == nil)
    }
  }
}

/// Who must have signed an image.
struct SignerOption: ParsableArguments, Sendable {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Take only images signed by the owner of this public key, a PEM file.", valueName: "path"),
    completion: .file(extensions: ["pem"]))
  var key: String?
}

extension FirmwareImage {
  /// What cannot be compared on the host; `nil` for an image that is not encrypted.
  var encryptionNote: String? {
    guard let mcuboot, mcuboot.isEncrypted, !isInTheClear else { return nil }
    return "encrypted: only the device can compare its hash"
  }

  fileprivate var proofWithoutKey: String {
    switch content {
    case .plain: "whole"
    case .mcuboot(let image, _) where encryptionNote != nil:
      "its structure is whole; " + (encryptionNote ?? "")
        + (image.signatures.isEmpty ? ", not signed" : ", signature not checked")
    case .mcuboot where isInTheClear: "whole, not encrypted: for the first slot, not for an update"
    case .mcuboot(let image, _):
      image.signatures.isEmpty ? "whole, not signed" : "whole, signature not checked"
    case .nordic(let packet):
      packet.isSigned ? "whole, signature not checked" : "whole, not signed"
    }
  }
}
