import OtaflashConsole
import OtaflashDelta
import OtaflashDevices
import OtaflashUpdate

/// The duration of an image transfer over one link in one form, compared with the other forms.
package struct ImageRow: Sendable {
  /// The measurement of the link.
  package let link: BenchmarkRow
  package let content: Delivery.Content
  /// The number of content bytes that are sent.
  package let bytes: Int
  package let imageSize: Int
  /// The duration of upload and VERIFY in seconds.
  package let seconds: Double
  /// Whether the content was not sent: only the link's rate was measured, and the other values are
  /// calculated.
  package let isPredicted: Bool
  /// The duration for the uncompressed image on the same link.
  package let plainSeconds: Double
  package let conditions: DeliveryConditions
  /// The share of the pages that are written; less than 1 if the device keeps pages.
  package var writtenShare = 1.0

  /// The number of image bytes per second.
  package var rate: Double { Double(imageSize) / seconds }
  package var gain: Double { plainSeconds / seconds }

  /// The limit of the flash in image bytes per second; `nil` if the flash takes no time.
  package var flashRate: Double? {
    let page = conditions.writeSeconds + (conditions.isErasedAhead ? 0 : conditions.eraseSeconds)
    return page * writtenShare > 0 ? Double(conditions.pageSize) / (page * writtenShare) : nil
  }

  /// The limit of the link in image bytes per second if the flash took no time.
  private var airRate: Double {
    conditions.bytesPerSecond * Double(imageSize) / Double(bytes)
  }

  /// The rate as a fraction of the lower limit of link and flash.
  package var limitShare: Double { rate / min(airRate, flashRate ?? .infinity) }

  package var bottleneck: Bottleneck {
    if let flashRate, flashRate < airRate { return .deviceFlash }
    return link.bottleneck
  }
}

extension ImageRow {
  package static let titles = [
    "mode", "PHY", "interval", "MTU", "sent", "bytes", "of image", "takes", "kB/s of image",
    "gain", "of limit", "limited by",
  ]

  package var cells: [String] {
    [
      link.setting.mode.rawValue, link.link.phy?.rawValue ?? "-",
      link.link.intervalMilliseconds.map { Text.decimal($0) + " ms" } ?? "-", link.mtuText,
      content.words, Text.grouped(bytes) + " B",
      Text.fixed(100 * Double(bytes) / Double(imageSize)) + "%",
      Text.seconds(.seconds(seconds)), Text.fixed(rate / 1000), Text.fixed(gain) + "x",
      Text.fixed(limitShare * 100) + "%", bottleneck.rawValue,
    ]
  }

  package func members(device: String) -> [JSONValue.Member] {
    let facts = link.link
    return JSONValue.fields([
      "device": .string(device), "mode": .string(link.setting.mode.rawValue),
      "mtu": .integer(link.setting.mtu), "window": .integer(link.setting.window),
      "phy": facts.phy.map { .string($0.rawValue) },
      "interval_ms": facts.intervalMilliseconds.map { .number($0) },
      "content": .string(content.name), "size": .integer(bytes),
      "image_size": .integer(imageSize), "predicted": .bool(isPredicted),
      "ms": .integer(Int((seconds * 1000).rounded())),
      "image_bytes_per_second": .number(rate), "gain": .number(gain),
      "link_bytes_per_second": .number(conditions.bytesPerSecond),
      "flash_bytes_per_second": flashRate.map { .number($0) },
      "limit_share": .number(limitShare), "bottleneck": .string(bottleneck.rawValue),
    ])
  }
}
