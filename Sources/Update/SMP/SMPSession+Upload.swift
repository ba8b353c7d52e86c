import Crypto
import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashWire

/// The state of an upload after its first request.
struct SMPUploadStart: Sendable {
  let size: SMPPacketSize
  /// The number of image bytes in the first request.
  let sent: Int
  /// The next byte that the server requests.
  let offset: Int
  /// Whether the server's hash of the complete image matches; `nil` if the server did not compare
  /// it.
  let matches: Bool?

  /// Whether the server held more than the bytes of the first request.
  var isResumed: Bool { offset > sent }

  /// The write unit of the server's flash, from the first response.
  var unit: SMPWriteUnit { SMPWriteUnit(sent: sent, taken: offset) ?? .unknown }
}

extension SMPSession {
  /// The time limit for a response that waits for flash. A first upload request or an erase may
  /// erase a complete slot; the selection of the next image may erase a page.
  static let eraseLimit = Duration.seconds(40)
  /// The maximum number of times that a complete image is sent again because its SHA-256 in the
  /// server's flash is wrong.
  private static let imageRepeatsMaximum = 1
  /// The number of image bytes in the first request to a server that must not resume.
  private static let shortFirst = SMPWriteUnit.leastTelling

  // MARK: The first request

  /// Sends the first request of the upload, whose response contains the state of the server. Unless
  /// `restart` is set, an image that is already in an inactive slot is not sent.
  func prepare(
    _ plan: UpdatePlan, restart: Bool
  ) async throws(UpdateFault) -> PreparedUpload {
    let image = plan.image
    if !restart, let slot = facts.state.received(image), !slot.flags.contains(.active),
      slot.stores(image) == .same
    {
      return PreparedUpload(from: image.bytes.count) {}
    }
    let size = try packetSize(for: image)
    if restart { try await erase(image.place.imageIndex) }
    let begun = try await begin(image.bytes, size, afresh: restart)
    // If the upload was not resumed, the server held no bytes before the first request.
    return PreparedUpload(from: begun.isResumed ? begun.offset : 0) {
      () async throws(UpdateFault) in try await upload(image.bytes, begun)
    }
  }

  private func packetSize(for image: FirmwareImage) throws(UpdateFault) -> SMPPacketSize {
    let index = image.place.imageIndex
    let announcement = SMPImage.Upload.Announcement(
      size: image.bytes.count, sha: Array(SHA256.hash(data: image.bytes)),
      image: index == 0 ? nil : index)
    let least = SMPPacketSize.least(for: announcement)
    // With one request in flight, the rate depends on the round trip, not on the use of connection
    // events.
    if facts.buffers.reassembles, facts.buffers.widthLimit > 1, context.options.windowLimit == nil {
      channel.fillEvents()
    }
    let bytes = facts.buffers.requestMaximum(over: channel, least: least)
    guard bytes >= least else { throw .declined(.prepare, .packetsTooShort(bytes, least: least)) }
    return SMPPacketSize(
      bytes: bytes, announcement: announcement, dataLimit: context.options.chunk ?? .max)
  }

  private func erase(_ imageIndex: Int) async throws(UpdateFault) {
    // The upload writes the slot that is not active, or slot 0 if no slot is active.
    let slot =
      switch facts.running(imageIndex)?.slot {
      case 0: 1
      default: 0
      }
    let number = 2 * imageIndex + slot
    _ = try await channel.perform(
      SMPImage.Erase(slot: number == 1 ? nil : number), .prepare, within: Self.eraseLimit)
  }

  /// Sends the first request of the upload, and returns the resulting state of the upload.
  ///
  /// - Parameter afresh: whether the server must start the upload at 0.
  private func begin(
    _ image: [UInt8], _ size: SMPPacketSize, afresh: Bool
  ) async throws(UpdateFault) -> SMPUploadStart {
    guard afresh else {
      let first = size.data(at: 0, of: image.count, to: .unknown)
      return try await announce(image.prefix(first), size, size.announcement)
    }
    // The request is so short that the offset of an earlier upload is unlikely to be mistaken for
    // the offset of the new upload.
    let first = image.prefix(min(size.data(at: 0, of: image.count, to: .unknown), Self.shortFirst))
    let begun = try await announce(first, size, size.announcement)
    guard begun.offset != first.count, begun.unit == .unknown else { return begun }
    // The server erased the slot, but kept the state of the earlier upload. A request without the
    // hash resets this state.
    var unmarked = size.announcement
    unmarked.sha = nil
    _ = try await announce(first, size, unmarked)
    return try await announce(first, size, size.announcement)
  }

  private func announce(
    _ first: ArraySlice<UInt8>, _ size: SMPPacketSize,
    _ announcement: SMPImage.Upload.Announcement
  ) async throws(UpdateFault) -> SMPUploadStart {
    context.sent(first.count)
    let result = try await channel.ask(
      SMPImage.Upload(offset: 0, data: Array(first), announcement: announcement), .prepare,
      within: Self.eraseLimit)
    let response: SMPImage.Upload.Response
    switch result {
    case .success(let answer): response = answer
    case .failure(let refusal):
      throw .declined(.prepare, facts.inWords(refusal, image: announcement.image ?? 0))
    }
    guard let offset = response.offset, offset <= size.announcement.size else {
      throw .protocolViolation(.prepare, "its answer to an upload has no offset in the image")
    }
    return SMPUploadStart(
      size: size, sent: first.count, offset: offset, matches: response.matches)
  }

  // MARK: The rest

  private func upload(
    _ image: [UInt8], _ beginning: SMPUploadStart
  ) async throws(UpdateFault) {
    var begun = beginning
    for _ in 0...Self.imageRepeatsMaximum {
      var sender = SMPUpload(of: image, begun, over: self)
      if try await sender.run() { return }
      context.observe(.rewound(to: 0, because: .blockChecksum))
      try await erase(begun.size.announcement.image ?? 0)
      begun = try await begin(image, begun.size, afresh: true)
    }
    throw .declined(.upload, .differs)
  }
}
