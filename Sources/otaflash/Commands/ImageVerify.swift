import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware

struct ImageVerify: Subcommand {
  static let words = "image verify"
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check the integrity, identity and signature of a firmware file.",
    discussion: """
      Compares the hashes, checksums and CRCs in the file. With --key, every image must be \
      signed with that key. A plain image must have a known version and hardware. For an \
      encrypted image, only the structure is checked.
      """)

  @Argument(help: "The firmware file, or - for standard input.", completion: .file())
  var file: String

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
      throw ValidationError("'\(text)' is not a CRC32; write 8 hex digits")
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
      let proof = signer.key == nil ? part.proofWithoutKey : "complete, signed with the key"
      session.console.result("\(part.summary)  \(proof)")
    }
    // The hash of an encrypted image cannot be compared on the host.
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

  /// Requires a version and hardware for images whose format does not contain them.
  private static func requireIdentity(of part: FirmwareImage) throws(CommandFault) {
    guard case .plain = part.content else { return }
    guard part.version != nil, part.hardware != nil else {
      throw .identityUnknown(
        name: part.name, version: part.version == nil, hardware: part.hardware == nil)
    }
  }
}

/// The key that must have signed an image.
struct SignerOption: ParsableArguments, Sendable {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Accept only images that are signed with the key in this PEM file (a public key).",
      valueName: "path"),
    completion: .file(extensions: ["pem"]))
  var key: String?
}

extension FirmwareImage {
  /// A note that the host cannot compare the hash; `nil` for an image that is not encrypted.
  var encryptionNote: String? {
    guard let mcuboot, mcuboot.isEncrypted, !isInTheClear else { return nil }
    return "encrypted: only the device can compare its hash"
  }

  fileprivate var proofWithoutKey: String {
    switch content {
    case .plain: "complete"
    case .microbit: "complete, all checksums of lines match; files of this kind are not signed"
    case .telink: "complete, its CRC32 matches; images of this kind are not signed"
    case .suota(let image) where image.isEncrypted:
      "complete structure; encrypted: only the device can compare its CRC32"
    case .suota: "complete, its CRC32 matches; the signature, if any, is not checked"
    case .oad(let image):
      "complete, its CRC32 matches, " + (image.isSigned ? "signature not checked" : "not signed")
    case .mcuboot(let image, _) where encryptionNote != nil:
      "complete structure; " + (encryptionNote ?? "")
        + (image.signatures.isEmpty ? ", not signed" : ", signature not checked")
    case .mcuboot where isInTheClear:
      "complete, not encrypted; it is for the first slot and cannot be sent as an update"
    case .mcuboot(let image, _):
      image.signatures.isEmpty ? "complete, not signed" : "complete, signature not checked"
    case .nordic(let packet):
      packet.isSigned ? "complete, signature not checked" : "complete, not signed"
    case .esp(let image):
      image.signature == .none ? "complete, not signed" : "complete, signature not checked"
    case .gbl(let file):
      file.isSigned ? "complete, signature not checked" : "complete, not signed"
    }
  }
}
