import OtaflashConsole
import OtaflashFirmware

/// The program of one board in a file for the micro:bit, as text and as JSON.
extension MicrobitProgram {
  /// The board, the origin, the size of the script, and the hash of the runtime, as text.
  var words: String {
    guard let script else {
      return "\(board.rawValue), \(application.count) bytes, without a part for partial flashing"
    }
    return "\(board.rawValue), \(script.origin.rawValue), a script of \(script.area.count) bytes; "
      + "runtime \(Text.hex(script.runtimeHash))"
  }

  var json: JSONValue {
    .object(
      JSONValue.fields([
        "board": .string(board.rawValue), "origin": (script?.origin.rawValue).map { .string($0) },
        "address": .integer(script?.area.lowerBound), "script_size": .integer(script?.area.count),
        "runtime_hash": .text(script.map { Text.hex($0.runtimeHash) }),
        "script_hash": .text(script?.scriptHash.map { Text.hex($0) }),
      ]))
  }
}
