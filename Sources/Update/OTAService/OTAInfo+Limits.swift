/// Time limits that follow from a device's INFO.
extension OTAInfo {
  /// Bytes that a device accepts between two Status notifications while data streams: a block, or a
  /// step of the window, whichever is shorter (docs/ota-service.md, 2.2).
  var bytesPerStatus: Int {
    let block = max(pageSize, bufferSize / 4 / pageSize * pageSize)
    return min(block, max(largestChunk, bufferSize / 4))
  }

  /// The longest time for VERIFY (docs/ota-service.md, 10): the pages that the receive buffer still
  /// holds are written first, each of them and the record after at most a page erase long, and then
  /// the image is read back.
  ///
  /// - Parameter unwritten: image bytes that the sent stream may still create (13).
  func verifyLimit(imageSize: Int, unwritten: Int = 0) -> Duration {
    let pages = bufferSize / pageSize + 2
    return OTAService.eraseLimit * pages + writeLimit(bytes: unwritten)
      + .seconds(imageSize / OTAService.readBackPerSecond)
  }

  /// The longest time to write this number of image bytes.
  func writeLimit(bytes: Int) -> Duration {
    OTAService.eraseLimit * ((bytes + pageSize - 1) / pageSize)
  }
}
