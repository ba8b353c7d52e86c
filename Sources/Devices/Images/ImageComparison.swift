import OtaflashConsole
import OtaflashDelta
import OtaflashFirmware

/// The cost of an update from one image to another.
package struct ImageComparison {
  /// The number of bytes to send, independent of the link.
  package struct Size: Equatable {
    package let content: Delivery.Content
    /// The codec of the patch; `nil` for the complete image.
    package let codec: PatchCodec?
    package let bytes: Int
  }

  /// The content for one link and one flash, and its transfer time.
  package struct Prediction {
    package let conditions: DeliveryConditions
    package let plain: Delivery
    package let best: Delivery

    /// The time of the complete image, divided by the time of this content.
    package var gain: Double { plain.forecast.seconds / best.forecast.seconds }
  }

  /// Windows of devices: the window of ESP-IDF, the default of this project, and the largest window
  /// of this project.
  private static let windows = [8, 10, 11]

  package let imageSize: Int
  package let sizes: [Size]
  private let deliveries: [Delivery]

  package init(_ pair: ImagePair, window: Int, conditions: DeliveryConditions) {
    let image = pair.new.bytes
    let base = PatchBase(pair.old.bytes)
    let empty = PatchBase([])
    let windows = Set(Self.windows + [window]).sorted()
    imageSize = image.count
    sizes =
      [Size(content: .plain, codec: nil, bytes: image.count)]
      + Self.sizes(.compressed, of: image, against: empty, [.crle], windows)
      + Self.sizes(.difference, of: image, against: base, [.none, .crle], windows, hasMap: true)
    let abilities = DecoderAbilities(
      hasCRLE: true, largestWindow: window, largestLookahead: window, hasMap: true,
      hasRangeCoder: true, pageSize: conditions.pageSize)
    deliveries = DeliveryPlanner(image: image, abilities: abilities, conditions: conditions)
      .deliveries(base: base)
  }

  /// Returns the size of the smallest patch for each codec, for heatshrink with each window, and
  /// with `hasMap` for each codec of format 2.
  private static func sizes(
    _ content: Delivery.Content, of image: [UInt8], against base: PatchBase,
    _ codecs: [PatchCodec], _ windows: [Int], hasMap: Bool = false
  ) -> [Size] {
    let heatshrink = windows.map { window in
      DecoderAbilities(
        hasCRLE: false, largestWindow: window, largestLookahead: window, hasMap: hasMap,
        pageSize: 1
      ).codecs
    }
    let mapped = hasMap ? heatshrink.map { $0.filter(\.isMapped) } + [[.range]] : []
    let groups = codecs.map { [$0] } + heatshrink.map { $0.filter { !$0.isMapped } } + mapped
    return Patch.smallest(from: base, to: image[...], ofEach: groups)
      .reduce(into: []) { sizes, patch in
        // A larger window may be of no use.
        guard sizes.last?.codec != patch.codec else { return }
        sizes.append(Size(content: content, codec: patch.codec, bytes: patch.bytes.count))
      }
  }

  /// Returns the predicted best delivery under `conditions`, with the page size of this comparison.
  package func prediction(under conditions: DeliveryConditions) -> Prediction {
    let predicted = deliveries.map { $0.predicted(under: conditions) }
    let plain = predicted[0]
    let best = DeliveryPlanner.best(of: predicted)
    return Prediction(
      conditions: conditions, plain: plain, best: best.isWorthwhile(against: plain) ? best : plain)
  }
}

extension ImageComparison.Size {
  package func cells(of imageSize: Int) -> [String] {
    [
      content.words, codec?.words ?? "", Text.grouped(bytes) + " B",
      Text.fixed(100 * Double(bytes) / Double(imageSize)) + "%",
    ]
  }

  package var members: [JSONValue.Member] {
    JSONValue.fields(["content": .string(content.name), "size": .integer(bytes)])
      + (codec?.members ?? [])
  }
}

extension ImageComparison.Prediction {
  package static let titles = [
    "link", "flash", "as it is", "sent", "bytes", "parts", "takes", "gain", "limit",
  ]

  package var cells: [String] {
    [
      Text.rate(conditions.bytesPerSecond), conditions.isErasedAhead ? "erased ahead" : "erased",
      Text.seconds(.seconds(plain.forecast.seconds)), best.words,
      Text.grouped(best.bytes.count) + " B", String(best.partCount),
      Text.seconds(.seconds(best.forecast.seconds)), Text.fixed(gain) + "x", limit,
    ]
  }

  private var limit: String { best.forecast.isLimitedByFlash ? "flash" : "air" }

  package var members: [JSONValue.Member] {
    let codecs: [JSONValue] = best.codecs.map { .object($0.members) }
    return JSONValue.fields([
      "rate_bytes_per_second": .number(conditions.bytesPerSecond),
      "erased_ahead": .bool(conditions.isErasedAhead),
      "plain_ms": .integer(Int((plain.forecast.seconds * 1000).rounded())),
      "content": .string(best.content.name), "size": .integer(best.bytes.count),
      "codecs": .array(codecs), "parts": .integer(best.partCount),
      "part_size": .integer(best.partSize),
      "ms": .integer(Int((best.forecast.seconds * 1000).rounded())), "limit": .string(limit),
    ])
  }
}

extension Delivery {
  /// The content and its codecs as text, such as `patch, crle + heatshrink 10,8`.
  fileprivate var words: String {
    let codecs = codecs.map(\.words).joined(separator: " + ")
    return codecs.isEmpty ? content.words : content.words + ", " + codecs
  }
}

extension Delivery.Content {
  package var words: String {
    switch self {
    case .plain: "as it is"
    case .compressed: "compressed"
    case .difference: "patch"
    }
  }

  package var name: String {
    switch self {
    case .plain: "plain"
    case .compressed: "compressed"
    case .difference: "difference"
    }
  }
}
