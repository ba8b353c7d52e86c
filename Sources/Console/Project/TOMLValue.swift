import COtaflashTOML

/// An error of the TOML parser.
struct TOMLFault: Error, Equatable {
  let message: String
  let line: Int
  let column: Int
}

/// A value of a TOML document, with the position of its key.
struct TOMLValue: Equatable, Sendable {
  /// The keys that lead to the table of the value.
  let table: [String]
  let key: String
  /// `nil` for a list, a date or a floating-point number.
  let text: String?
  let line: Int
  let column: Int
  /// The line where its table begins.
  let tableLine: Int

  private final class Collector {
    var values: [TOMLValue] = []
  }

  /// Returns all values, in the order of the document.
  static func read(_ document: [UInt8]) throws(TOMLFault) -> [TOMLValue] {
    let collector = Collector()
    var fault = otaflash_toml_fault()
    let isRead = document.withUnsafeBytes { bytes in
      otaflash_toml_read(
        bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count,
        Unmanaged.passUnretained(collector).toOpaque(),
        { context, table, key, kind, value, line, column, tableLine in
          guard let context, let table, let key, let value else { return }
          let path = String(cString: table)
          Unmanaged<Collector>.fromOpaque(context).takeUnretainedValue().values.append(
            TOMLValue(
              table: path.isEmpty ? [] : path.split(separator: "\n").map(String.init),
              key: String(cString: key),
              text: kind == OTAFLASH_TOML_SCALAR ? String(cString: value) : nil,
              line: Int(line), column: Int(column), tableLine: Int(tableLine)))
        }, &fault)
    }
    guard isRead else {
      let message = withUnsafeBytes(of: fault.message) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      throw TOMLFault(message: message, line: Int(fault.line), column: Int(fault.column))
    }
    return collector.values
  }
}
