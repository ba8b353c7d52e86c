import OtaflashFirmware

extension SampleImage {
  /// Returns a HEX file for a micro:bit.
  ///
  /// - Parameters:
  ///   - body: the content of the script.
  ///   - settings: the board and the editor. The runtime is the runtime of `runtime=same`.
  public static func microbit(_ body: [UInt8], for settings: MicrobitSettings) -> [UInt8] {
    let sample = MicrobitSample(board: settings.board, editor: settings.editor)
    return MicrobitHexFile.plain(sample.application(body), for: settings.board)
  }

  /// Returns a Universal Hex of MakeCode for micro:bit V1 and V2.
  ///
  /// - Parameter body: the content of both scripts.
  public static func universalHex(_ body: [UInt8]) -> [UInt8] {
    MicrobitHexFile.universal([
      .v1: MicrobitSample(board: .v1, editor: .makecode).application(body),
      .v2: MicrobitSample(board: .v2, editor: .makecode).application(body),
    ])
  }

  /// Returns the bytes of runtime and script of a micro:bit V2.
  package static func microbitApplication(editor: MicrobitSettings.Editor) -> [UInt8] {
    MicrobitSample(board: .v2, editor: editor).application([])
  }
}
