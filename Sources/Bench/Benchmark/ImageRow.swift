import OtaflashConsole
import OtaflashDelta
import OtaflashDevices
import OtaflashUpdate

/// What an image takes over one link in one way, and what that comes to beside the others.
package struct ImageRow: Sendable {
  /// What the link carries, measured.
  package let link: BenchmarkRow
  package let content: Delivery.Content
  /// What goes over the air.
  package let bytes: Int
  package let imageSize: Int
  /// Upload and VERIFY.
  package let seconds: Double
  /// Nothing of this was sent: the link's rate was measured, the rest is arithmetic.
  package let isPredicted: Bool
  /// What the image as it is takes over the same link.
  package let plainSeconds: Double
  package let conditions: DeliveryConditions

  /// Bytes of image per second.
  package var rate: Double { Double(imageSize) / seconds }
  package var gain: Double { plainSeconds / seconds }

  /// Bytes of image per second that the flash takes; `nil` where it takes no time.
  package var flashRate: Double? {
    let page = conditions.writeSeconds + (conditions.isErasedAhead ? 0 : conditions.eraseSeconds)
    return page > 0 ? Double(conditions.pageSize) / page : nil
  }

  /// Bytes of image per second that the link would carry into flash that takes no time.
  private var airRate: Double {
    conditions.bytesPerSecond * Double(imageSize) / Double(bytes)
  }

  /// The share that was reached of what the slower of link and flash permits.
  package var limitShare: Double { rate / min(airRate, flashRate ?? .infinity) }

  package var bottleneck: Bottleneck {
    if let flashRate, flashRate < airRate { return .deviceFlash }
    return link.bottleneck
  }
}

extension ImageRow {
  package static let titles = [
    "mode", "PHY", "interval", "MTU", "sent", "bytes", "of image", "takes", "kB/s of image",
    "gain", "of limit", "held back by",
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
