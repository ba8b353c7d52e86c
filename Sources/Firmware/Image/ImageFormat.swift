extension FirmwareImage {
  /// The file format of an image. The `row` of a format describes the format completely. Detection,
  /// help texts, the manual and docs/image-formats.md follow these rows.
  public enum Format: String, Sendable, CaseIterable {
    /// Raw bytes.
    case binary
    /// Intel HEX.
    case intelHex = "intel-hex"
    /// Motorola S-records.
    case sRecord = "s-record"
    /// UF2 blocks.
    case uf2
    /// An ELF program.
    case elf
  }
}

/// The reason why a file of a format with addresses was rejected, with the position in the file.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum FormatFault: Error, Equatable, Sendable {
  /// An error in an Intel HEX file.
  case intelHex(TextFault<IntelHexFault>)
  /// An error in a Motorola S-record file.
  case sRecord(TextFault<SRecordFault>)
  /// An error in a UF2 file.
  case uf2(UF2Fault)
  /// An error in an ELF file.
  case elf(ELFFault)
}

extension FirmwareImage.Format {
  package var row: ImageFormat {
    switch self {
    case .binary:
      ImageFormat("binary", "the bytes of the device's slot", sign: .noOther)
    case .intelHex:
      ImageFormat(
        "Intel HEX", "records with addresses; gaps are filled with 0xFF",
        sign: .text(suffixes: [".hex", ".ihex", ".ihx"]) { $0.first == UInt8(ascii: ":") },
        IntelHexFile.self, FormatFault.intelHex)
    case .sRecord:
      ImageFormat(
        "S-records", of: "S-record",
        "records with addresses in another notation; gaps are filled with 0xFF",
        sign: .text(suffixes: [".srec", ".s19", ".s28", ".s37", ".mot"], SRecord.begins),
        SRecordFile.self, FormatFault.sRecord)
    case .uf2:
      ImageFormat(
        "UF2", "blocks with addresses; all blocks must be present and for one chip family",
        sign: .magic(UF2File.magic), UF2File.self, FormatFault.uf2)
    case .elf:
      ImageFormat(
        "ELF", "a linked program: its loaded segments at their physical addresses",
        sign: .magic(ELFFile.magic), ELFFile.self, FormatFault.elf)
    }
  }

  /// `Intel HEX, S-record, UF2 and ELF`: the formats whose data has addresses, before the word
  /// "files".
  package static let addressed = allCases.filter { $0.row.decode != nil }.map(\.row.adjective)
    .listed(before: "and")

  /// `binary, Intel HEX, S-record, UF2 or ELF`: all formats, before the word "file".
  package static let anyOne = allCases.map(\.row.adjective).listed(before: "or")

  /// Determines the format by the magic at the start, otherwise by the suffix of the name,
  /// otherwise by the first line of text. A file without these features is a binary.
  ///
  /// The text need not be well-formed, because a file with a damaged first line must be rejected
  /// with an error of its format and must never be sent as a binary.
  package init(of file: [UInt8], name: String) {
    let magic = Self.allCases.first { $0.row.sign.isMagic(of: file) }
    self = magic ?? Self(text: file, name: name) ?? .binary
  }

  /// Determines the format of a text file. Returns `nil` if neither the name nor the first line
  /// indicates a format.
  init?(text file: [UInt8], name: String) {
    let (name, line) = (name.lowercased(), TextPrefix.line(of: file))
    let named = Self.allCases.first { $0.row.sign.suffixes.contains(where: name.hasSuffix) }
    let format =
      named
      ?? line.flatMap { line in
        Self.allCases.first { $0.row.sign.begins(line) }
      }
    guard let format else { return nil }
    self = format
  }
}

/// The description of one format.
package struct ImageFormat: Sendable {
  /// The property by which a file of the format is recognized.
  package enum Sign: Sendable {
    /// The first bytes.
    case magic([UInt8])
    /// The suffix of the name, or the first line.
    case text(suffixes: [String], @Sendable (_ line: ArraySlice<UInt8>) -> Bool)
    /// Any file that has no other format.
    case noOther
  }

  typealias Decoder =
    @Sendable (
      _ file: [UInt8], _ window: AddressedMemory.Window
    ) throws(FirmwareFault) -> (bytes: [UInt8], layout: AddressLayout)

  /// The name in a list of formats: `S-records`.
  package let title: String
  /// The name before "file": `S-record`.
  package let adjective: String
  /// The content of a file of this format, as a clause.
  package let summary: String
  package let sign: Sign
  /// Decodes the addresses of the file; `nil` = the file is the image.
  let decode: Decoder?

  fileprivate init(_ title: String, _ summary: String, sign: Sign) {
    (self.title, adjective, self.summary) = (title, title, summary)
    (self.sign, decode) = (sign, nil)
  }

  fileprivate init<File: AddressedFile>(
    _ title: String, of adjective: String? = nil, _ summary: String, sign: Sign, _: File.Type,
    _ malformed: @escaping @Sendable (File.Fault) -> FormatFault
  ) {
    (self.title, self.adjective, self.summary) = (title, adjective ?? title, summary)
    self.sign = sign
    decode = { (file, window) throws(FirmwareFault) in
      do throws(File.Fault) {
        let file = try File(
          decoding: file, spanLimit: window.spanLimit, region: window.region)
        return (file.bytes, file.layout)
      } catch {
        throw error.addresses.map(FirmwareFault.addresses) ?? .malformed(malformed(error))
      }
    }
  }
}

extension ImageFormat.Sign {
  func isMagic(of file: [UInt8]) -> Bool {
    if case .magic(let bytes) = self { file.starts(with: bytes) } else { false }
  }

  /// The suffixes in lower case, with their dots.
  package var suffixes: [String] {
    if case .text(let suffixes, _) = self { suffixes } else { [] }
  }

  func begins(_ line: ArraySlice<UInt8>) -> Bool {
    if case .text(_, let begins) = self { begins(line) } else { false }
  }
}

extension FormatFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .intelHex(let fault): "\(fault)"
    case .sRecord(let fault): "\(fault)"
    case .uf2(let fault): "\(fault)"
    case .elf(let fault): "\(fault)"
    }
  }

  /// The line in a text file, from 1; `nil` for an error of the addresses, and for a file without
  /// lines.
  public var line: Int? {
    switch self {
    case .intelHex(.line(let line, _)), .sRecord(.line(let line, _)): line
    case .intelHex(.addresses), .sRecord(.addresses), .uf2, .elf: nil
    }
  }
}

extension [String] {
  /// Returns a text such as `a, b and c`.
  package func listed(before last: String) -> String {
    dropLast().joined(separator: ", ") + " \(last) " + (self.last ?? "")
  }
}
