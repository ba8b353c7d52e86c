import ArgumentParser
import OtaflashFirmware

struct ImageVerify: Subcommand {
  static let words = "image verify"
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check that a firmware file is whole and says what it is; fails otherwise.",
    discussion: """
      MCUboot images and Nordic init packets carry hashes, which are compared. With a key, every \
      image must be signed by its owner. Of other images version and hardware must be known.
      """)

  @Argument(help: "The firmware file, or - for standard input.") var file: String

  @Option(
    name: .long, help: ArgumentHelp("The CRC32 that the image must have.", valueName: "hex"),
    transform: Self.checksum)
  var crc32: UInt32?

  @OptionGroup var signer: SignerOption
  @OptionGroup var identity: IdentityOptions
  @OptionGroup var board: BoardOptions
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
    let package = try ImageSource.loadPackage(file, saying: identity.identity)
    session.console.event(package)
    if let crc32 { try compare(crc32, with: package) }
    try ImageSource.prove(package, signedBy: signer.key)
    try ImageSource.check(package, isFor: board.board)
    for part in package.parts { try requireFacts(part, of: package) }
    for part in package.parts {
      let proof = signer.key == nil ? part.proofWithoutKey : "whole, signed by the key"
      session.console.result("\(part.summary)  \(proof)")
    }
    return .done("verified")
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

  /// What a boot loader's own format says is enough for one; of other images somebody must say it.
  private func requireFacts(
    _ part: FirmwareImage, of package: FirmwarePackage
  ) throws(CommandFault) {
    switch part.content {
    case .mcuboot(let image, _):
      guard !image.isEncrypted else {
        throw .unproved(name: package.name, PartFault(part: part.name, fault: .encrypted))
      }
    case .nordic: break
    case .plain:
      guard part.version != nil else { throw .update(.versionUnknown) }
      guard part.hardware != nil else { throw .update(.hardwareUnknown) }
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
  fileprivate var proofWithoutKey: String {
    switch content {
    case .plain: "whole"
    case .mcuboot(let image, _):
      image.signatures.isEmpty ? "whole, not signed" : "whole, signature not checked"
    case .nordic(let packet):
      packet.isSigned ? "whole, signature not checked" : "whole, not signed"
    }
  }
}
