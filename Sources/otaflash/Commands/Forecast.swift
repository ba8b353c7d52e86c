import OtaflashConsole
import OtaflashDevices
import OtaflashProgram
import OtaflashFirmware
import OtaflashUpdate

/// The effect of `flash` with an image and a device.
enum Forecast: Equatable, Sendable {
  case alreadyCurrent
  /// `from` and `to` are `nil` if they are unknown.
  case send(from: FirmwareVersion?, to: FirmwareVersion?, change: Change, offset: Int, total: Int)
  case refuse(FaultReport)

  /// The versions with their builds, as text.
  struct Change: Equatable, Sendable {
    var from: String?
    var to: String?
  }

  init(_ prospect: Inspection.Prospect, on device: DeviceReport?, in context: FaultContext) {
    let image = prospect.image
    switch prospect.decision {
    case .success(.alreadyCurrent): self = .alreadyCurrent
    case .success(.send):
      self = .send(
        // The version that a device reports is the version of its first image.
        from: image.place.imageIndex == 0 ? device?.runningVersion : nil, to: image.version,
        change: Change(
          from: image.place.imageIndex == 0 ? device?.runningName : nil, to: image.versionName),
        offset: device?.resumeOffset(for: image) ?? 0, total: image.bytes.count)
    case .failure(let fault): self = .refuse(FaultReport(.update(fault), in: context))
    }
  }

  var sends: Bool {
    if case .send = self { true } else { false }
  }

  var refuses: Bool {
    if case .refuse = self { true } else { false }
  }

  func sentence(in style: Style) -> String {
    switch self {
    case .alreadyCurrent: return "send nothing: the device already runs this image"
    case .send(_, _, let names, let offset, let total):
      let target = names.to ?? "an image without a version"
      let change = names.from.map { "\($0) \(style.arrow) \(target)" } ?? target
      let rest = "\(Text.grouped(total - offset)) B"
      return offset > 0
        ? "send the last \(rest) of \(change)" : "send \(rest): \(change)"
    case .refuse(let report): return "refuse (\(report.code.rawValue)): \(report.what)"
    }
  }

  var members: [JSONValue.Member] {
    switch self {
    case .alreadyCurrent: JSONValue.fields(["outcome": "already-current"])
    case .send(let from, let to, _, let offset, let total):
      JSONValue.fields([
        "outcome": "would-flash", "from": .text(from), "to": .text(to),
        "offset": .integer(offset), "total": .integer(total),
      ])
    case .refuse(let report):
      JSONValue.fields([
        "outcome": "refused", "code": .string(report.code.rawValue),
        "message": .string(report.what),
      ])
    }
  }
}
