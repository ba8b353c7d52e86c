import OtaflashFirmware

/// The bytes of a transfer: the image itself, or a stream from which the device creates the image.
enum OTAPayload: Sendable {
  case image(PrefixChecksums)
  case stream(OTAStream)

  /// The content. Offsets in messages of the service refer to these bytes.
  var bytes: PrefixChecksums {
    switch self {
    case .image(let bytes): bytes
    case .stream(let stream): stream.bytes
    }
  }

  /// The size of the image in bytes.
  var imageSize: Int {
    switch self {
    case .image(let bytes): bytes.count
    case .stream(let stream): stream.image.size
    }
  }

  /// Returns the number of image bytes that a device can create from the first `count` bytes.
  func imageBytes(ofFirst count: Int) -> Int {
    switch self {
    case .image: count
    case .stream(let stream): stream.imageBytes(ofFirst: count)
    }
  }

  /// Returns the number of image bytes that a device certainly has when it holds the first `count`
  /// bytes.
  func imageBytesHeld(ofFirst count: Int) -> Int {
    switch self {
    case .image: count
    case .stream(let stream): stream.imageBytesHeld(ofFirst: count)
    }
  }

  /// The number of image bytes that a device may write while its Status shows no progress.
  var silentImageBytes: Int {
    switch self {
    case .image: 0
    case .stream(let stream): stream.delivery.partSize
    }
  }
}
