import OtaflashFirmware

/// The state that a micro:bit reports.
struct MicrobitDevice: Equatable, Sendable {
  private static let softDeviceEndOfV1 = 0x1_8000

  let board: MicrobitBoard
  let mode: MicrobitMode
  let runtime: MicrobitRegion
  let script: MicrobitRegion

  /// Reads the state. The device counts packets from 0 afterwards.
  static func read(
    over channel: MicrobitChannel, hasDFUOfV1: Bool
  ) async throws(UpdateFault) -> MicrobitDevice {
    let mode = try await channel.status(.connect)
    let softDevice = try await channel.region(.softDevice, .connect)
    return MicrobitDevice(
      board: hasDFUOfV1 || softDevice.end == softDeviceEndOfV1 ? .v1 : .v2, mode: mode,
      runtime: try await channel.region(.runtime, .connect),
      script: try await channel.region(.script, .connect))
  }

  /// Whether the device has the runtime for this script, and its area of scripts starts at the
  /// address of this script.
  func hasRuntime(of script: MicrobitScript) -> Bool {
    runtime.isKnown && runtime.hash == script.runtimeHash
      && self.script.start == script.area.lowerBound
  }

  /// Whether the program that runs has the hash of this script. In pairing mode, the hash shows
  /// nothing: it is in the first block of a script, so it may belong to an interrupted transfer.
  func runs(_ script: MicrobitScript) -> Bool {
    mode == .application && hasRuntime(of: script) && self.script.hash == script.scriptHash
  }

  /// The size of the area of scripts in bytes. V1 reports the last address of the area.
  var scriptRoom: Int { max(0, script.end + (board == .v1 ? 1 : 0) - script.start) }
}
