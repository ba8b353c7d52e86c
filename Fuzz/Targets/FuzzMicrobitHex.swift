import OtaflashFirmware

/// The decoder of HEX files for the micro:bit. The input is also tried as the content of a program,
/// in which the mark of MakeCode or the table of MicroPython is searched for.
func fuzzMicrobitHex(_ bytes: [UInt8]) {
  check(bytes)
  guard !bytes.isEmpty else { return }
  for board in MicrobitBoard.allCases {
    for start in [board.applicationArea.lowerBound, board.applicationArea.lowerBound + 0x3F0] {
      let program = MicrobitProgram(board: board, start: start, application: bytes)
      guard let script = program.script else { continue }
      precondition(program.bytes(of: script).count == script.area.count)
      precondition(script.area.upperBound <= board.applicationArea.upperBound + bytes.count)
    }
  }
}

private func check(_ bytes: [UInt8]) {
  do throws(FirmwareFault) {
    let image = try FirmwareImage.decode(name: "program.hex", bytes: bytes)
    guard let microbit = image.microbit else { return }
    for program in microbit.programs {
      precondition(program.board.applicationArea.contains(program.start))
      precondition(
        program.start + program.application.count <= program.board.applicationArea.upperBound)
    }
  } catch {
    precondition(!error.description.isEmpty)
  }
}
