import FoundationEssentials
import Glibc
import OtaflashFirmware

/// Reads the archives whose paths are on standard input, one per line, and prints one line for each
/// archive: `ok` and, for every file, its name in hexadecimal digits, its size and its CRC32; or
/// `refused` or `unreadable` and the reason.
@main
enum ZipReader {
  private static let limit = 1 << 22

  static func main() {
    while let path = readLine() {
      print(answer(path))
    }
  }

  private static func answer(_ path: String) -> String {
    let bytes: [UInt8]
    do { bytes = try [UInt8](Data(contentsOf: URL(filePath: path))) } catch {
      return "unreadable \(error)"
    }
    do throws(ZipFault) {
      let archive = try ZipArchive(decoding: bytes, limit: limit)
      return (["ok"] + archive.entries.map(line)).joined(separator: " ")
    } catch {
      // An answer is one line, even if the error contains a name with control characters.
      let words = "\(error)".unicodeScalars.map { $0.value < 0x20 ? " " : Character($0) }
      return "refused " + String(words)
    }
  }

  private static func line(_ entry: ZipArchive.Entry) -> String {
    let name = entry.name.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    return "\(name):\(entry.bytes.count):\(CRC32.checksum(entry.bytes))"
  }
}
