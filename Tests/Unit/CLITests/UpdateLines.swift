import OtaflashUpdate

@testable import OtaflashConsole
@testable import OtaflashDevices
@testable import OtaflashProgram
@testable import otaflash

/// The lines that `--json` writes about updates, without a console.
struct UpdateLines {
  private var lines = JSONLines()
  private var traces = UpdateTraces()

  mutating func line(_ type: String, _ members: KeyValuePairs<String, JSONValue?>) -> String {
    lines.line(type, members)
  }

  mutating func observe(
    _ event: UpdateEvent, of device: String, at now: Duration
  ) -> [String] {
    traces.observe(event, of: device, at: now).map { lines.line($0.type, $0.members) }
  }

  mutating func endAll(ok: Bool, at now: Duration) -> [String] {
    traces.endAll(ok: ok, at: now).map { lines.line($0.type, $0.members) }
  }
}
