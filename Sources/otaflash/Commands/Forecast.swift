import OtaflashFirmware
import OtaflashUpdate

/// What `flash` would do with an image and a device.
enum Forecast: Equatable, Sendable {
  case alreadyCurrent
  case send(from: FirmwareVersion?, to: FirmwareVersion, offset: Int, total: Int)
  case refuse(FaultReport)

  /// A key is taken for granted: whether the device wants one stands beside this.
  init(_ image: FirmwareImage, on device: DeviceReport, in context: FaultContext) {
    var options = UpdateOptions()
    options.key = []
    do throws(UpdateFault) {
      switch try Preflight.check(image, against: device, options: options) {
      case .alreadyCurrent: self = .alreadyCurrent
      case .send(let plan):
        self = .send(
          from: device.runningVersion, to: plan.version, offset: device.resumeOffset(for: image),
          total: image.bytes.count)
      }
    } catch {
      self = .refuse(FaultReport(error, in: context))
    }
  }

  func sentence(in style: Style) -> String {
    switch self {
    case .alreadyCurrent: return "send nothing: the device runs this very image"
    case .send(let from, let to, let offset, let total):
      let change = from.map { "\($0) \(style.arrow) \(to)" } ?? "\(to)"
      let rest = "\(Text.grouped(total - offset)) B"
      return offset > 0
        ? "send the last \(rest) of \(change)" : "send \(rest): \(change)"
    case .refuse(let report): return "refuse (\(report.code.rawValue)): \(report.what)"
    }
  }

  var members: [JSONValue.Member] {
    switch self {
    case .alreadyCurrent: JSONValue.fields(["outcome": "already-current"])
    case .send(let from, let to, let offset, let total):
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
