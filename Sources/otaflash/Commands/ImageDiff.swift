import ArgumentParser
import OtaflashConsole
import OtaflashDelta
import OtaflashDevices
import OtaflashFirmware

struct ImageDiff: Subcommand {
  static let words = "image diff"
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compare the sizes and times of an update from one image to another.",
    discussion: """
      Prints the sizes of the image, of the compressed image, and of patches against the running \
      image; then, for each link, the best choice if the flash is erased during the transfer, and \
      if it was erased ahead. Times are predictions: nothing is sent.
      """)

  /// The rate of one request of 20 bytes and its response every 30 ms, then typical rates of poor
  /// to good links.
  private static let usualRates = [530, 6000, 20_000, 60_000, 100_000]

  @OptionGroup var files: ImagePairArguments

  @Option(
    name: .long,
    help: ArgumentHelp("Rates of the link, in bytes per second.", valueName: "list"),
    transform: CommaList<LinkRate>.parse)
  var rate = CommaList(Self.usualRates.map(LinkRate.init))

  @Option(
    name: .long, help: ArgumentHelp("The erase size of the flash, in bytes.", valueName: "size"),
    transform: ByteCount.parse)
  var page: ByteCount?

  @Option(
    name: .long,
    help: ArgumentHelp("The time to erase a page (default: 85ms).", valueName: "time"),
    transform: TimeSpan.parse)
  var eraseTime: TimeSpan?

  @Option(
    name: .long,
    help: ArgumentHelp("The time to write a page (default: 40ms).", valueName: "time"),
    transform: TimeSpan.parse)
  var writeTime: TimeSpan?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The rate of the device's decoder, in image bytes per second (default: not considered).",
      valueName: "rate"),
    transform: ByteCount.parse)
  var decodingRate: ByteCount?

  @Option(name: .long, help: "The heatshrink window of the device in bits, 4 to 14.")
  var window: WholeNumber = 10

  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(image: files.new) }
  var inputFiles: [String] { files.paths }

  private static let pageRange = 256...1 << 20

  func validate() throws {
    guard HeatshrinkOptions.windows.contains(window.value) else {
      throw ValidationError("--window \(window.value) is out of range; specify 4 to 14")
    }
    if let decodingRate, decodingRate.bytes == 0 {
      throw ValidationError("--decoding-rate is 0; specify a rate such as 70K")
    }
    if let page, !Self.pageRange.contains(page.bytes) {
      throw ValidationError("--page \(page.bytes) is out of range; specify 256 to 1M")
    }
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let pair = try ImagePair.load(files, session)
    let comparison = ImageComparison(
      pair, window: window.value, conditions: conditions(rate.elements[0], isErasedAhead: false))
    for size in comparison.sizes { session.console.event("delivery_size", size.members) }
    let predictions = rate.elements.flatMap { rate in
      [false, true].map { comparison.prediction(under: conditions(rate, isErasedAhead: $0)) }
    }
    for prediction in predictions { session.console.event("prediction", prediction.members) }
    for line in Text.table(comparison.sizes.map { $0.cells(of: comparison.imageSize) }) {
      session.console.result(line)
    }
    session.console.result("")
    session.console.table(
      ImageComparison.Prediction.titles, predictions.map(\.cells), keeping: ["link", "flash"])
    return .done("compared")
  }

  private func conditions(_ rate: LinkRate, isErasedAhead: Bool) -> DeliveryConditions {
    var conditions = DeliveryConditions(
      bytesPerSecond: Double(rate.bytes), isErasedAhead: isErasedAhead)
    if let page { conditions.pageSize = page.bytes }
    conditions.decodingRate = decodingRate.map { Double($0.bytes) }
    if let eraseTime { conditions.eraseSeconds = eraseTime.duration.inSeconds }
    if let writeTime { conditions.writeSeconds = writeTime.duration.inSeconds }
    return conditions
  }
}

/// The rate of a link, an element of a list.
struct LinkRate: ListElement, Hashable {
  static let expected = "a number of bytes per second, 1 to 1G; write 6000 or 20K"
  private static let limit = 1 << 30

  let bytes: Int

  init(_ bytes: Int) { self.bytes = bytes }

  init?(listText: String) {
    guard let count = ByteCount(listText), (1...Self.limit).contains(count.bytes) else {
      return nil
    }
    self.init(count.bytes)
  }

  var listText: String { String(bytes) }
}
