import OtaflashConsole
import OtaflashFirmware
import OtaflashUpdate

extension UpdateResult {
  /// The one line that a success is.
  /// - Parameter name: the version that was to run, with its build; it is told where that one runs.
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
      return style.green("done") + "    dry run: nothing stands in the way of \(change)"
    case .flashed:
      var parts = shortened ?? transfer
      if let limit { parts.append(limit) }
      if resumes > 0 { parts.append(Text.counted(resumes, "resume")) }
      if awaitsApplication {
        return style.green("done") + "    installed\(proof == .readBack ? ", verified" : ""), "
          + "in \(Text.seconds(took)) (\(parts.joined(separator: ", ")))"
      }
      let trial = validation == nil ? "" : " on trial"
      return style.green("done") + "    running \(version)\(trial)\(known), "
        + "in \(Text.seconds(took)) (\(parts.joined(separator: ", ")))"
    }
  }

  /// How long the upload took, and how fast it was.
  private var transfer: [String] {
    ["upload \(Text.seconds(uploadTook))"]
      + (uploadTook >= Self.uploadWithRate
        ? [Text.rate(Double(bytesSent) / uploadTook.inSeconds)] : [])
  }

  /// What held the upload back: as it was seen, or as it was expected.
  private var limit: String? {
    if let bottleneck { return "held back by \(bottleneck.words)" }
    guard let delivery, delivery.isShortened else { return nil }
    return delivery.isLimitedByFlash ? "limited by device flash" : nil
  }

  /// The same where less than the image was sent.
  private var shortened: [String]? {
    guard let delivery, delivery.isShortened, let bytesMade else { return nil }
    let rate = imageRate.map { madeIn >= Self.uploadWithRate ? Text.rate($0) : nil } ?? nil
    return ["\(Text.grouped(bytesMade)) B in \(Text.seconds(madeIn))"]
      + [rate].compactMap(\.self) + ["\(Text.grouped(bytesSent)) B sent"]
  }

  /// How it is known that the image runs, and what is not.
  private var known: String {
    switch proof {
    case .none: ""
    case .readBack: to == nil ? " that was sent, verified; nobody knows its version" : ", verified"
    case .version: ", verified by its version"
    case .changed: " (checked and started by its bootloader; it tells other things than before)"
    case .bootloader where from != nil && from == to:
      " (checked and started by its bootloader; it tells the version that ran before)"
    case .bootloader: " (checked and started by its bootloader; no versions to compare)"
    }
  }

  /// What is still to be done by hand.
  package var warning: String? {
    if awaitsApplication {
      return "        The device runs its firmware loader and has no application: flash it now."
    }
    return validation.map {
      "        \($0) Until then its next restart brings the old version back."
    }
  }
}
