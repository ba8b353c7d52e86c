import OtaflashFirmware

/// The comparison of a running application with an image. SUOTA reports nothing about the running
/// image, so only Device Information and the Database Hash are compared.
extension ApplicationIdentity {
  /// The version texts without `v`. The Firmware Revision often is the version of the SDK, so it
  /// only counts if there is no Software Revision.
  private var suotaTexts: [String] {
    [softwareRevision ?? firmwareRevision].compactMap(\.self).map(SUOTAImage.plain)
  }

  /// The version of the application, if it consists of three numbers.
  var suotaVersion: FirmwareVersion? { suotaTexts.lazy.compactMap(FirmwareVersion.init).first }

  /// Whether the application reports the version of the image.
  func runs(_ image: FirmwareImage) -> Bool {
    if let version = image.version, suotaVersion == version { return true }
    guard let text = image.suota.map({ SUOTAImage.plain($0.versionText) }) else { return false }
    return suotaTexts.contains(text)
  }

  /// Compares the application with an image after the restart.
  ///
  /// - Parameters:
  ///   - before: the values before the update; `nil` if unknown.
  ///   - hasRestarted: whether the device accepted the image and then restarted. Otherwise, a
  ///     device without a version counts as a device that was not updated.
  func agreement(
    withSUOTA image: FirmwareImage, before: ApplicationIdentity?, hasRestarted: Bool
  ) -> RunningImage.Agreement {
    let unknown: RunningImage.Agreement = hasRestarted ? .restarted : .untold
    if runs(image) { return before?.runs(image) ?? false ? unknown : .sameVersion }
    if suotaVersion != nil, image.version != nil { return .different }
    return agreement(with: image.unversioned, before: before) == .changed ? .changed : unknown
  }
}

extension FirmwareImage {
  fileprivate var unversioned: FirmwareImage {
    FirmwareImage(
      name: name, format: format, bytes: [], version: nil, hardware: hardware, content: content)
  }
}
