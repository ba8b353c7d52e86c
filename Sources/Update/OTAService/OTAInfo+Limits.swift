/// Time limits that follow from a device's INFO.
extension OTAInfo {
  /// The number of bytes between two Status notifications during a transfer: a block or a step of
  /// the window, whichever is shorter (docs/ota-service.md, 2.2).
  var bytesPerStatus: Int {
    let block = max(pageSize, bufferSize / 4 / pageSize * pageSize)
    return min(block, max(largestChunk, bufferSize / 4))
  }

  /// Returns the time limit of VERIFY (docs/ota-service.md, 10). The device first writes the pages
  /// in its receive buffer and a record, each of which takes at most the time of a page erase. Then
  /// it reads the image back.
  ///
  /// - Parameter unwritten: the number of image bytes that the device may still create from the
  ///   sent stream (docs/ota-service.md, 13).
  func verifyLimit(imageSize: Int, unwritten: Int = 0) -> Duration {
    let pages = bufferSize / pageSize + 2
    return OTAService.eraseLimit * pages + writeLimit(bytes: unwritten)
      + .seconds(imageSize / OTAService.readBackPerSecond)
  }

  /// Returns the longest time that the device may need to write this number of image bytes.
  func writeLimit(bytes: Int) -> Duration {
    OTAService.eraseLimit * ((bytes + pageSize - 1) / pageSize)
  }
}
