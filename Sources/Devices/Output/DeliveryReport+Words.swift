import OtaflashConsole
import OtaflashUpdate

extension DeliveryReport {
  /// The line that describes the content.
  package var sentence: String {
    let other = unused.map { "; \($0.clause)" } ?? ""
    return "sending " + what + other
  }

  private var what: String {
    let size = Text.grouped(imageSize)
    let why = obstacle.map(\.clause)
    switch content {
    case .image: return "the image itself" + (why.map { ": \($0)" } ?? "")
    case .compressed:
      return "\(Text.grouped(bytes)) B for \(size), compressed"
        + (why.map { ": \($0)" } ?? "")
    case .difference(let base):
      return "\(Text.grouped(bytes)) B for \(size), a patch against \(Text.hex(base.crc32))"
    }
  }

  /// The members in events and results.
  package var members: [JSONValue.Member] {
    let base: ContentIdentity? = if case .difference(let base) = content { base } else { nil }
    return JSONValue.fields([
      "content": .string(word), "octets": .integer(bytes), "image": .integer(imageSize),
      "base_size": .integer(base?.size),
      "base_crc32": base.map { .string(Text.hex($0.crc32)) },
      "obstacle": obstacle.map { .string($0.code) },
      "message": obstacle.map { .string($0.clause) },
      "unused_patch": unused.map { .string($0.code) },
      "limited_by_flash": .bool(isLimitedByFlash),
    ])
  }

  private var word: String {
    switch content {
    case .image: "image"
    case .compressed: "compressed"
    case .difference: "patch"
    }
  }
}

extension UpdateResult {
  /// The time of the upload and of the read-back of the image. The read-back is included because
  /// the upload of a patch ends before the device has written the complete image.
  package var madeIn: Duration { uploadTook + verifyTook }

  /// The rate in image bytes per second; `nil` if the device only supports images, or nothing was
  /// sent.
  package var imageRate: Double? {
    guard let bytesMade, madeIn > .zero else { return nil }
    return Double(bytesMade) / madeIn.inSeconds
  }

  /// The content and its rate; `nil` if the device only supports images.
  package var deliveryMembers: [JSONValue.Member]? {
    delivery.map { delivery in
      let air = uploadTook > .zero ? Double(bytesSent) / uploadTook.inSeconds : nil
      return delivery.members
        + JSONValue.fields([
          "sent": .integer(bytesSent), "made": .integer(bytesMade),
          "image_rate_bytes_per_second": imageRate.map { .integer(Int($0)) },
          "air_rate_bytes_per_second": air.map { .integer(Int($0)) },
        ])
    }
  }
}
