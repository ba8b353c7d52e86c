import Glibc
import OtaflashConsole

/// The key that authorizes an update: 16 to 64 bytes, raw or as hex digits, in a file that only
/// its owner may read. Keys never come from flags or the environment.
package enum KeyFile {
  package static let lengths = 16...64
  /// The maximum size of the file, in bytes: more than 64 bytes as hex digits with a line break.
  private static let sizeLimit = 256

  package static func load(_ path: String) throws(KeyFileFault) -> [UInt8] {
    let file = InputFile(path: path, limit: sizeLimit)
    let content = try file.read(KeyFileFault.file) { status throws(KeyFileFault) in
      let mode = status.st_mode & 0o777
      guard mode & 0o077 == 0 else { throw .exposed(path: path, mode: mode) }
    }
    guard let key = key(from: content) else {
      throw .wrongLength(path: path, bytes: content.count)
    }
    return key
  }

  /// Returns the key in a file of the command line.
  package static func key(at path: String) throws(CommandFault) -> [UInt8] {
    do throws(KeyFileFault) { return try load(path) } catch { throw .keyFile(error) }
  }

  /// Returns the key in a file's content, or `nil` if it contains none. Hex digits are tried first:
  /// the probability that a raw key consists of 32 or more hex digits is less than 10^-30.
  package static func key(from content: [UInt8]) -> [UInt8]? {
    let text = content.filter { !" \t\r\n".utf8.contains($0) }
    if let bytes = hexadecimal(text), lengths.contains(bytes.count) { return bytes }
    return lengths.contains(content.count) ? content : nil
  }

  private static func hexadecimal(_ digits: [UInt8]) -> [UInt8]? {
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = Character(UnicodeScalar(digits[index])).hexDigitValue,
        let low = Character(UnicodeScalar(digits[index + 1])).hexDigitValue
      else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    return bytes
  }
}
