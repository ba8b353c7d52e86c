import Crypto
import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// Where an upload stands behind its first request.
struct SMPBeginning: Sendable {
  let size: SMPPacketSize
  /// The next octet that the server wants.
  let offset: Int
  /// The server has all of the image, and has compared it.
  let matches: Bool?
}

extension SMPSession {
  /// The longest time to the answer of a first upload request, or of an erase: a whole slot is
  /// erased before it.
  static let eraseLimit = Duration.seconds(40)
  /// Times that a whole image whose SHA-256 differs in the server's flash is sent again.
  private static let imageRepeatsMaximum = 1

  // MARK: The first request

  /// Asks the server where it stands, by the first request of the upload. An image that a slot lists
  /// already need not be sent.
  func prepare(_ plan: UpdatePlan, restart: Bool) async throws(UpdateFault) -> Int {
    let image = plan.image
    if !restart, let slot = facts.state.received(image), !slot.flags.contains(.active),
      slot.holds(image) == .same
    {
      return image.bytes.count
    }
    let size = try packetSize(for: image)
    if restart { try await erase(image.place.imageIndex) }
    let begun = try await begin(image.bytes, size, afresh: restart)
    beginning.withLock { $0 = begun }
    // What the first request itself brought was not held before.
    return begun.offset == min(size.data(at: 0), image.bytes.count) ? 0 : begun.offset
  }

  private func packetSize(for image: FirmwareImage) throws(UpdateFault) -> SMPPacketSize {
    let index = image.place.imageIndex
    let announcement = SMPImage.Upload.Announcement(
      size: image.bytes.count, sha: Array(SHA256.hash(data: image.bytes)),
      image: index == 0 ? nil : index)
    let least = SMPPacketSize.least(for: announcement)
    let octets = facts.requestMaximum(over: channel, least: least)
    guard octets >= least else { throw .declined(.prepare, .packetsTooShort(octets, least: least)) }
    return SMPPacketSize(
      octets: octets, announcement: announcement, dataLimit: context.options.chunk ?? .max)
  }

  private func erase(_ imageIndex: Int) async throws(UpdateFault) {
    _ = try await channel.perform(
      SMPImage.Erase(slot: imageIndex == 0 ? nil : 2 * imageIndex + 1), .prepare,
      within: Self.eraseLimit)
  }

  /// - Parameter afresh: what the server holds must be nothing.
  private func begin(
    _ image: [UInt8], _ size: SMPPacketSize, afresh: Bool
  ) async throws(UpdateFault) -> SMPBeginning {
    let begun = try await announce(image, size, size.announcement)
    guard afresh, begun.offset != size.data(at: 0) else { return begun }
    // It erased the slot and still remembers the upload: one without a mark makes it forget.
    var unmarked = size.announcement
    unmarked.sha = nil
    _ = try await announce(image, size, unmarked)
    return try await announce(image, size, size.announcement)
  }

  private func announce(
    _ image: [UInt8], _ size: SMPPacketSize, _ announcement: SMPImage.Upload.Announcement
  ) async throws(UpdateFault) -> SMPBeginning {
    let first = image.prefix(size.data(at: 0))
    context.tally.send(first.count)
    let response = try await channel.perform(
      SMPImage.Upload(offset: 0, data: Array(first), announcement: announcement), .prepare,
      within: Self.eraseLimit)
    guard let offset = response.offset, offset <= image.count else {
      throw .protocolViolation(.prepare, "its answer to an upload has no offset in the image")
    }
    return SMPBeginning(size: size, offset: offset, matches: response.matches)
  }

  // MARK: The rest

  func upload(_ image: PrefixChecksums, from offset: Int) async throws(UpdateFault) {
    guard var begun = beginning.withLock({ $0 }) else {
      precondition(offset == image.count, "an upload that was not prepared")
      return
    }
    for _ in 0...Self.imageRepeatsMaximum {
      var transfer = SMPTransfer(of: image.bytes, begun, over: self)
      if try await transfer.run() { return }
      context.observe(.rewound(to: 0, because: .blockChecksum))
      try await erase(begun.size.announcement.image ?? 0)
      begun = try await begin(image.bytes, begun.size, afresh: true)
    }
    throw .declined(.upload, .differs)
  }
}
