@testable import OtaflashFirmware

/// Any text is a manifest, or is rejected with a message.
func fuzzManifest(_ input: [UInt8]) {
  do throws(ManifestFault) {
    visit(try ManifestReader.read(input), depth: 0)
  } catch {
    precondition(!error.description.isEmpty)
  }
}

private func visit(_ value: ManifestValue, depth: Int) {
  precondition(depth < ManifestReader.depthMaximum)
  switch value {
  case .object(let members): for member in members.values { visit(member, depth: depth + 1) }
  case .array(let elements): for element in elements { visit(element, depth: depth + 1) }
  case .string, .number: _ = value.integer
  case .boolean, .null: break
  }
}
