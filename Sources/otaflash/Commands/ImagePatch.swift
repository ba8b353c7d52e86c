import ArgumentParser
import OtaflashConsole
import OtaflashDelta
import OtaflashDevices
import OtaflashFirmware

struct ImagePatch: Subcommand {
  static let words = "image patch"
  static let configuration = CommandConfiguration(
    commandName: "patch",
    abstract: "Create a patch from one image to another.",
    discussion: """
      By default, the patch has the sequential format of detools: 'detools apply_patch OLD FILE \
      NEW' applies it. The codecs mapped and range create patches of format 2, which are smaller; \
      they predict the addresses in code for Arm Cortex-M. If OLD or NEW has another format than \
      raw bytes, the patch is between the images in the files, which 'objcopy -O binary' extracts. \
      Before the command writes the file, it applies the patch and compares the result. \
      'flash NEW --patch FILE' sends it; without --patch, flash creates a patch against the \
      running image.
      """)

  enum Codec: String, ExpressibleByArgument, CaseIterable, Sendable {
    case auto, none, crle, heatshrink, mapped, range, best
  }

  @OptionGroup var files: ImagePairArguments

  @Option(
    name: .shortAndLong, help: ArgumentHelp("The file to write.", valueName: "file"),
    completion: .file())
  var output: String

  @Option(
    name: .long,
    help: ArgumentHelp(
      """
      The compression: none, crle, heatshrink, or auto for the smallest of these; mapped \
      (heatshrink) or range for format 2; best for the smallest of all.
      """))
  var codec = Codec.auto

  @OptionGroup var heatshrink: HeatshrinkOptions
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(image: files.new) }
  var inputFiles: [String] { files.paths }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let file = OutputFile(path: output, kind: .patch, option: "--output")
    do throws(OutputFileFault) { try file.check(avoiding: session.inputs) } catch {
      throw .outputFile(file, error)
    }
    let pair = try ImagePair.load(files, session)
    let patch = Patch.smallest(
      from: PatchBase(pair.old.bytes), to: pair.new.bytes[...], codecs: codecs)
    Self.prove(patch, of: pair)
    do throws(OutputFileFault) {
      try file.replace(
        with: PatchFile.bytes(of: patch, creating: pair.new.bytes), avoiding: session.inputs)
    } catch {
      throw .outputFile(file, error)
    }
    printResult(patch, of: pair, session)
    for image in [pair.old, pair.new] where image.format != .binary {
      session.console.note(Self.differingFile(image))
    }
    return .done("written")
  }

  private var codecs: [PatchCodec] {
    switch codec {
    case .auto: [.none, .crle] + heatshrink.codecs
    case .none: [.none]
    case .crle: [.crle]
    case .heatshrink: heatshrink.codecs
    case .mapped: heatshrink.mapped
    case .range: [.range]
    case .best: [.none, .crle] + heatshrink.codecs + heatshrink.mapped + [.range]
    }
  }

  /// Applies the patch as a device does. If the result is not the new image, this is an error in
  /// otaflash.
  private static func prove(_ patch: Patch, of pair: ImagePair) {
    let made: PatchReader.Result
    do throws(PatchFault) {
      made = try PatchReader.apply(
        patch.bytes[...], to: pair.old.bytes, limit: pair.new.bytes.count)
    } catch {
      preconditionFailure("a new patch cannot be applied: \(error)")
    }
    precondition(made.image == pair.new.bytes, "a new patch creates another image")
  }

  /// Returns the note that a patch applies to the image in a file, not to the file itself.
  private static func differingFile(_ image: FirmwareImage) -> String {
    "note: the patch is for the \(Text.grouped(image.bytes.count)) B of the image in "
      + "\(image.name), not for the \(image.format.row.adjective) file itself: before you use "
      + "detools, extract the image with 'objcopy -O binary'"
  }

  private func printResult(_ patch: Patch, of pair: ImagePair, _ session: Session) {
    let share = 100 * Double(patch.bytes.count) / Double(pair.new.bytes.count)
    session.console.event(
      "patch",
      JSONValue.fields([
        "file": .string(output), "size": .integer(patch.bytes.count),
        "makes": .integer(pair.new.bytes.count), "base_size": .integer(pair.old.bytes.count),
        "base_crc32": .string(Text.hex(pair.old.crc32)),
        "crc32": .string(Text.hex(pair.new.crc32)),
      ]) + patch.codec.members)
    session.console.result(
      "\(output)  \(Text.grouped(patch.bytes.count)) B  \(Text.fixed(share))% of "
        + "\(pair.new.name)  \(patch.codec.words)")
  }
}

/// The two parameters of heatshrink.
struct HeatshrinkOptions: ParsableArguments, Sendable {
  static let windows = 4...14

  @Option(name: .long, help: "The heatshrink window in bits, 4 to 14.")
  var window: WholeNumber = 10

  @Option(
    name: .long, help: "The heatshrink lookahead in bits, 3 to window - 1 (default: the best).")
  var lookahead: WholeNumber?

  func validate() throws {
    guard Self.windows.contains(window.value) else {
      throw ValidationError("--window \(window.value) is out of range; specify 4 to 14")
    }
    if let lookahead, !(3..<window.value).contains(lookahead.value) {
      throw ValidationError(
        "--lookahead \(lookahead.value) is out of range; specify 3 to \(window.value - 1)")
    }
  }

  /// The codecs to choose from.
  var codecs: [PatchCodec] {
    if let lookahead,
      let parameters = HeatshrinkParameters(window: window.value, lookahead: lookahead.value)
    {
      return [.heatshrink(parameters)]
    }
    return DecoderAbilities(
      hasCRLE: false, largestWindow: window.value, largestLookahead: window.value, pageSize: 1
    ).codecs
  }

  /// The same parameters for format 2.
  var mapped: [PatchCodec] {
    codecs.compactMap {
      if case .heatshrink(let parameters) = $0 { .mapped(parameters) } else { nil }
    }
  }
}
