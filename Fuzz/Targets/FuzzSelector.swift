import OtaflashFirmware
import OtaflashFleet

/// Any text selects devices, or is rejected with its column.
func fuzzSelector(_ input: [UInt8]) {
  let text = String(decoding: input, as: UTF8.self)
  let known = FleetDevice(
    id: "C0:FF:EE:00:00:01", name: "front door", board: "door-v2", site: "berlin", tags: ["lab"],
    version: FirmwareVersion(1, 2, 0), rssi: -70)
  do throws(SelectorFault) {
    let expression = try DeviceExpression(parsing: text)
    // Nothing is undecided for a completely known device. The other evaluations must only not trap.
    let truth = expression.truth(of: known)
    precondition(truth != .undecided)
    _ = expression.truth(of: FleetDevice(id: "a"))
    _ = expression.facts
  } catch {
    precondition(!error.description.isEmpty && error.column >= 1)
  }
}
