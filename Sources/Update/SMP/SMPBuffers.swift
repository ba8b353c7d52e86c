import OtaflashWire

/// The buffers of a server, which limit the length and the number of requests.
struct SMPBuffers: Equatable, Sendable {
  var parameters: SMPOS.Parameters.Response?
  /// Whether the server reassembles fragments, so that a request may be longer than one write.
  var reassembles = false

  /// The maximum request size in bytes for a server that does not report its buffers: the default
  /// of Zephyr (MCUMGR_BUF_SIZE, now MCUMGR_TRANSPORT_NETBUF_SIZE).
  private static let bufferDefault = 384
  /// The maximum number of requests in flight, regardless of the number of the server's buffers.
  private static let widthMaximum = 6

  /// Returns the maximum length of an upload request in bytes: the length with the highest data
  /// rate among the lengths that the server accepts.
  ///
  /// - Parameter least: the length in bytes that the first request needs.
  func requestMaximum(over channel: SMPChannel, least: Int) -> Int {
    let oneWrite = channel.fragmentSize >= least ? channel.fragmentSize : channel.writeMaximum
    guard let buffer = parameters?.bufferSize else { return min(oneWrite, Self.bufferDefault) }
    guard reassembles else { return min(buffer, oneWrite) }
    return SMPPacketSize.best(
      buffer: min(buffer, SMPHeader.size + SMPHeader.bodyMaximum), fragment: channel.partSize,
      sizing: channel.sizing)
  }

  /// The maximum number of requests in flight, 1...6, so that one buffer remains free for a
  /// response. It is 1 for a server that does not report its buffers.
  var widthLimit: Int {
    guard let count = parameters?.bufferCount else { return 1 }
    return min(max(1, count - 1), Self.widthMaximum)
  }

  /// Returns the number of requests in flight that the upload tries. Only requests of one write may
  /// exceed `widthLimit`: if no buffer is free, such a request is lost completely, and the next
  /// response shows the loss. If the first fragment of a longer request is lost, the server treats
  /// the second as the start of another request.
  func reach(ofRequests bytes: Int, over channel: SMPChannel) -> Int {
    parameters != nil && bytes <= channel.writeMaximum ? Self.widthMaximum : widthLimit
  }
}
