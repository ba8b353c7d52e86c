import OtaflashConsole
import OtaflashFirmware
import OtaflashUpdate

extension UpdateResult {
  /// Returns the line that reports the outcome.
  /// - Parameter name: the expected version with its build; it is printed if that version runs.
  package func sentence(in style: Style, naming name: (FirmwareVersion, String)? = nil) -> Line {
    let named: String? = if let to, let name, name.0 == to { name.1 } else { to?.description }
    let version = named ?? "the image"
    switch outcome {
    case .alreadyCurrent:
      let known = proof == .version ? ", by its version" : ""
      return style.green("done") + "    already running \(version)\(known); "
        + (confirmedTrial ? "confirmed, " : "") + "nothing was sent"
    case .wouldFlash:
      let change = from.map { "\($0) \(style.arrow) \(version)" } ?? version
      return style.green("done") + "    dry run: ready to flash \(change)"
    case .flashed, .restarted:
      var parts = shortened ?? transfer
      if let limit { parts.append(limit) }
      if resumes > 0 { parts.append(Text.counted(resumes, "resume")) }
      if awaitsApplication {
        return style.green("done") + "    installed\(proof == .readBack ? ", verified" : ""), "
          + "in \(Text.seconds(took)) (\(parts.joined(separator: ", ")))"
      }
      guard outcome == .flashed else {
        return "sent    \(version) was sent and the device has restarted, in "
          + "\(Text.seconds(took)) (\(parts.joined(separator: ", "))); not verified"
      }
      let trial = validation == nil ? "" : " on trial"
      return style.green("done") + "    running \(version)\(trial)\(known), "
        + "in \(Text.seconds(took)) (\(parts.joined(separator: ", ")))"
    }
  }

  /// The duration and the rate of the upload.
  private var transfer: [String] {
    ["upload \(Text.seconds(uploadTook))"]
      + (uploadTook >= Self.uploadWithRate
        ? [Text.rate(Double(bytesSent) / uploadTook.inSeconds)] : [])
  }

  /// The bottleneck of the upload, measured or predicted, as text; `nil` if unknown.
  private var limit: String? {
    if let bottleneck { return "limited by \(bottleneck.words)" }
    guard let delivery, delivery.isShortened else { return nil }
    return delivery.isLimitedByFlash ? "limited by the device's flash" : nil
  }

  /// The size of the image, the duration, the rate and the number of sent bytes, if less than the
  /// image was sent; otherwise `nil`.
  private var shortened: [String]? {
    guard let delivery, delivery.isShortened, let bytesMade else { return nil }
    let rate = imageRate.map { madeIn >= Self.uploadWithRate ? Text.rate($0) : nil } ?? nil
    return ["\(Text.grouped(bytesMade)) B in \(Text.seconds(madeIn))"]
      + [rate].compactMap(\.self) + ["\(Text.grouped(bytesSent)) B sent"]
  }

  /// The verification grade, with a note of unknown values.
  private var known: String {
    switch proof {
    case .none, .restarted: ""
    case .readBack: to == nil ? " that was sent, verified; its version is unknown" : ", verified"
    case .version: ", verified by its version"
    case .changed:
      " (the Device Information or the Database Hash of the application has changed)"
    case .bootloader where from != nil && from == to:
      " (checked by the bootloader; the application reports the same version as before)"
    case .bootloader: " (checked by the bootloader; no versions to compare)"
    }
  }

  /// The remaining manual action, as text; `nil` if no action remains.
  package var warning: String? {
    if awaitsApplication {
      return "        The device runs its firmware loader and has no application: flash it now."
    }
    if outcome == .restarted {
      return "        The device reports nothing that shows which image runs. Check the device."
    }
    return validation.map {
      "        \($0) Until then, the next restart reverts to the old version."
    }
  }
}
