import OtaflashFirmware
import OtaflashGATT

/// The end of a transfer: the check of the image, and the restart.
extension SUOTATransfer {
  /// The time in which a device reports the result of its check.
  private static let checkLimit = Duration.seconds(30)
  /// The maximum time from the command to restart to the end of the link.
  private static let restartLimit = Duration.seconds(6)

  /// Makes the device check and mark the image, and restart into it.
  ///
  /// - Throws: `.gatt(.activate, .linkLost)` if the link is lost and the loss does not show that
  ///   the device restarts.
  func finish(_ image: FirmwareImage) async throws(UpdateFault) {
    if !retained.value.isHeld { try await end() }
    retained.update { $0.isAccepted = true }
    try await reboot(isCertain: !Self.usesBlocks(image))
  }

  private func end() async throws(UpdateFault) {
    while try channel.poll(.activate) != nil {}
    try await performing(.activate) { () async throws(GATTFault) in try await channel.write(.end) }
    // The response shows that the device has processed the command, and each block before was
    // reported as good, so a status that is read belongs to the command.
    let status = try await status(after: "the end of the image", .activate, within: Self.checkLimit)
    { _ in
      true
    }
    guard status == .done else { throw .declined(.activate, status.inWords) }
  }

  /// - Parameter isCertain: whether every end of the link restarts the device, also without the
  ///   command (DA1468x and DA1469x).
  private func reboot(isCertain: Bool) async throws(UpdateFault) {
    do throws(GATTFault) { try await channel.write(.reboot) } catch {
      guard case .linkLost(let loss) = error else { throw .gatt(.activate, error) }
      guard isCertain || loss == .closedByPeer else { throw .gatt(.activate, error) }
      retained.update { $0.hasRestarted = true }
      return
    }
    let hasEnded = await channel.client.waitUntilEnded(
      within: Self.restartLimit, on: context.clock)
    guard isCertain || hasEnded else { throw .declined(.activate, .suotaKeepsRunning) }
    retained.update { $0.hasRestarted = true }
  }
}
