import OtaflashFirmware

/// The comparison of a running application with an image. Telink's OTA service reports nothing
/// about the running image, so only Device Information and the Database Hash are compared.
extension ApplicationIdentity {
  /// The versions in the Firmware Revision and the Software Revision, with or without `v` before
  /// the numbers.
  var versions: [FirmwareVersion] {
    [firmwareRevision, softwareRevision].compactMap(\.self).compactMap { text in
      FirmwareVersion(text.lowercased().hasPrefix("v") ? String(text.dropFirst()) : text)
    }
  }

  /// Compares the application with an image after the restart.
  ///
  /// - Parameters:
  ///   - before: the values before the update; `nil` if unknown.
  ///   - isAccepted: whether the device reported that it had checked and accepted the image.
  func agreement(
    with image: FirmwareImage, before: ApplicationIdentity?, isAccepted: Bool
  ) -> RunningImage.Agreement {
    let unknown: RunningImage.Agreement = isAccepted ? .untold : .restarted
    guard let wanted = image.version, !versions.isEmpty else {
      let changed = agreement(with: image.withoutVersion, before: before) == .changed
      return changed ? .changed : unknown
    }
    guard versions.contains(wanted) else { return .different }
    let ranBefore = before?.versions.contains(wanted) ?? false
    return ranBefore ? unknown : .sameVersion
  }
}

extension FirmwareImage {
  fileprivate var withoutVersion: FirmwareImage {
    FirmwareImage(
      name: name, format: format, bytes: [], version: nil, hardware: hardware, content: content)
  }
}
