import OtaflashATT
import OtaflashConsole
import OtaflashGATT

/// The output of -vv and -vvv: each step of a connection, and each PDU.
package struct ConnectionLog: Sendable {
  package static let stepVerbosity = 2
  private static let traceVerbosity = 3

  package let console: Console

  package func watching(_ dialer: Dialer, on clock: any LinkClock) -> Dialer {
    let style = console.settings.errorStyle
    var watched = dialer
    if console.prints(atVerbosity: Self.stepVerbosity) {
      watched = watched.observing { transition in
        console.note(Self.line(transition, in: style), verbosity: Self.stepVerbosity)
      }
    }
    if console.prints(atVerbosity: Self.traceVerbosity) {
      let start = clock.now
      watched = watched.tracing(on: clock) { crossing in
        console.note(Self.line(crossing, since: start, in: style), verbosity: Self.traceVerbosity)
      }
    }
    return watched
  }

  /// Returns a line such as `connection connecting → connected`.
  package static func line(_ step: ConnectionTransition, in style: Style) -> String {
    let line = "  connection \(step.from.rawValue) \(style.arrow) \(step.to.rawValue)"
    switch step.failure {
    case nil: return line
    case .connect(let fault): return line + ": \(fault)"
    case .gatt(.linkLost(let loss)): return line + ": \(loss)"
    case .gatt(let fault): return line + ": \(fault)"
    case .impossible(let step): return line + ": \(step.input) is impossible in this state"
    }
  }

  /// Returns a line such as `0.123456 → WriteRequest 0x0010 495 bytes`; the time is in seconds
  /// since `start`.
  package static func line(
    _ crossing: TracingLink.Crossing, since start: LinkInstant, in style: Style
  ) -> String {
    let arrow =
      switch crossing.direction {
      case .sent: style.arrow
      case .received: style.backArrow
      }
    return "  \(Text.microseconds(start.duration(to: crossing.instant))) \(arrow) "
      + Self.content(of: crossing.pdu)
  }

  private static func content(of pdu: [UInt8]) -> String {
    do throws(DecodeFault) {
      return try ATTPDU(decoding: pdu).description
    } catch {
      let bytes = pdu.prefix(16).map { Text.padded(String($0, radix: 16), 2) }
      return "malformed, \(pdu.count) bytes: " + bytes.joined(separator: " ") + " (\(error))"
    }
  }
}
