import OtaflashFirmware
import OtaflashGATT

/// The reasons why partial flashing is not possible. The protocol has no error codes, so the host
/// detects all of them.
extension ProtocolRefusal {
  private static let copying = Remedy.advice(
    "Copy the file to the MICROBIT drive (Calliope: MINI) over USB; further programs of the same "
      + "editor can then be sent over Bluetooth.")

  /// The script needs another runtime.
  static let microbitRuntimeDiffers = ProtocolRefusal(
    code: "runtime",
    meaning: "its runtime (CODAL, DAL or MicroPython) is not the one for which the program was "
      + "built",
    advice: "Partial flashing sends only the script; nothing was written. If the device also "
      + "offers the protocol of its bootloader, the complete program is sent unless partial "
      + "flashing is requested.",
    kind: .unsuitable, remedy: copying)

  /// The file contains only the program of another board.
  static func microbitProgramMissing(for board: MicrobitBoard) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "board",
      meaning: "it is a micro:bit \(board.rawValue), and the file has no program "
        + "for this board",
      advice: "Download the program again as a Universal Hex, which contains both programs.",
      kind: .wrongHardware, remedy: .chooseAnotherImage)
  }

  /// The program has no separate script.
  static let microbitScriptMissing = ProtocolRefusal(
    code: "no script",
    meaning: "the program for this board is neither a program of MakeCode nor of MicroPython V2",
    advice: "Only these programs have a part that can be sent separately; nothing was written.",
    kind: .unsuitable, remedy: copying)

  /// The device neither restarts after the end of a transfer nor on request.
  static let microbitKeepsRunning = ProtocolRefusal(
    code: "no restart", meaning: "it has received the complete program, but does not restart",
    advice: "Press the reset button; if the device shows the Bluetooth symbol, send the program "
      + "again.", kind: .protocolBroken, remedy: .restartDevice)

  /// After the restart, the device reports another program.
  static let microbitOtherProgram = ProtocolRefusal(
    code: "program", meaning: "it runs another program than the one that was sent",
    advice: "Another host may have updated the device in the meantime.", kind: .rejected,
    remedy: .tryAgain)
}
