/// The programs of a HEX file for the micro:bit: one, or one for each board in a Universal Hex.
public struct MicrobitImage: Equatable, Sendable {
  /// One program per board, V1 first.
  public let programs: [MicrobitProgram]

  /// - Precondition: at least one program.
  public init(programs: [MicrobitProgram]) {
    precondition(!programs.isEmpty, "a file without programs")
    self.programs = programs
  }

  /// Returns the program for a board; `nil` if the file has none.
  public func program(for board: MicrobitBoard) -> MicrobitProgram? {
    programs.first { $0.board == board }
  }

  /// The program whose bytes are the bytes of the image: the program for V2, if there is one.
  var primary: MicrobitProgram { programs[programs.count - 1] }
}

extension MicrobitImage {
  /// Finds the programs of a HEX file. Returns `nil` if the file is not for the micro:bit: it is
  /// not a Universal Hex, and contains neither the mark of MakeCode nor the table of MicroPython.
  static func find(in text: [UInt8]) throws(TextFault<IntelHexFault>) -> (
    image: MicrobitImage, layout: AddressLayout
  )? {
    var file = MicrobitHex()
    do throws(TextFault<IntelHexFault>) { try file.add(text) } catch {
      // The reader of plain HEX files reports the same error.
      guard file.isUniversal else { return nil }
      throw error
    }
    var found: [(program: MicrobitProgram, layout: AddressLayout)] = []
    for board in file.boards {
      guard let (bytes, layout) = try file.application(of: board) else { continue }
      let program = MicrobitProgram(
        board: board, start: Int(layout.lowestAddress), application: bytes)
      guard file.isUniversal || program.startsWithVectors && program.script != nil else { continue }
      found.append((program, layout))
      // A plain file has one program.
      if !file.isUniversal { break }
    }
    guard let last = found.last else {
      if file.isUniversal { throw .line(1, .noData) }
      return nil
    }
    return (MicrobitImage(programs: found.map(\.program)), last.layout)
  }
}
