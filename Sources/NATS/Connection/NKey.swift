#if Sites
import Crypto
import FoundationEssentials
import Glibc

/// An Ed25519 key of a user, in the notation of NATS (nkeys). The seed starts with `SU`, and the
/// public key starts with `U`.
package struct NKey: Sendable {
  private static let seedPrefix: UInt8 = 18 << 3
  private static let userPrefix: UInt8 = 20 << 3
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
  private static let fileMaximum = 4096

  private let key: Curve25519.Signing.PrivateKey

  /// Generates a key.
  package init() { key = Curve25519.Signing.PrivateKey() }

  /// Decodes a seed; returns `nil` if the text is not the seed of a user.
  package init?(seed: String) {
    guard let bytes = Self.decode(seed), bytes.count == 36, Self.isIntact(bytes),
      bytes[0] == Self.seedPrefix | Self.userPrefix >> 5,
      bytes[1] == (Self.userPrefix & 31) << 3
    else { return nil }
    do {
      key = try Curve25519.Signing.PrivateKey(rawRepresentation: bytes[2..<34])
    } catch {
      return nil
    }
  }

  /// Reads the seed, which is the first word that starts with `SU`, from a file that only its owner
  /// may read.
  package init(contentsOf path: String) throws(NATSFault) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw .credentials("\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    defer { _ = close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
      throw .credentials("\(path) is not a file")
    }
    guard facts.st_mode & 0o077 == 0 else {
      throw .credentials("\(path) can be read by other users; its mode must be 0600")
    }
    var bytes = [UInt8](repeating: 0, count: Self.fileMaximum)
    let count = read(descriptor, &bytes, bytes.count)
    let lines = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
      .split(whereSeparator: \.isWhitespace)
    guard let seed = lines.first(where: { $0.hasPrefix("SU") }), let key = NKey(seed: String(seed))
    else { throw .credentials("\(path) contains no NKey seed of a user") }
    self = key
  }

  /// The seed, which is secret.
  package var seed: String {
    let first = Self.seedPrefix | Self.userPrefix >> 5
    return Self.encode([first, (Self.userPrefix & 31) << 3] + Array(key.rawRepresentation))
  }

  /// The public key, which the server's configuration contains.
  package var publicKey: String {
    Self.encode([Self.userPrefix] + Array(key.publicKey.rawRepresentation))
  }

  package func signature(of bytes: [UInt8]) -> [UInt8]? {
    do { return Array(try key.signature(for: bytes)) } catch { return nil }
  }

  // MARK: - Base 32 with a CRC-16 (XMODEM, little-endian) at the end

  private static func encode(_ content: [UInt8]) -> String {
    let checksum = checksum(of: content[...])
    var text: [UInt8] = []
    var (bits, count) = (0, 0)
    for byte in content + [UInt8(checksum & 0xFF), UInt8(checksum >> 8)] {
      bits = bits << 8 | Int(byte)
      count += 8
      while count >= 5 {
        count -= 5
        text.append(alphabet[bits >> count & 31])
      }
      bits &= 1 << count - 1
    }
    if count > 0 { text.append(alphabet[bits << (5 - count) & 31]) }
    return String(decoding: text, as: UTF8.self)
  }

  private static func decode(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var (bits, count) = (0, 0)
    for character in text.utf8 {
      guard let value = alphabet.firstIndex(of: character) else { return nil }
      bits = bits << 5 | value
      count += 5
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(bits >> count & 0xFF))
      }
      bits &= 1 << count - 1
    }
    return bytes
  }

  private static func isIntact(_ bytes: [UInt8]) -> Bool {
    let stored = UInt16(bytes[bytes.count - 2]) | UInt16(bytes[bytes.count - 1]) << 8
    return checksum(of: bytes.dropLast(2)) == stored
  }

  private static func checksum(of bytes: ArraySlice<UInt8>) -> UInt16 {
    bytes.reduce(0) { crc, byte in
      (0..<8).reduce(crc ^ UInt16(byte) << 8) { crc, _ in
        crc & 0x8000 == 0 ? crc << 1 : crc << 1 ^ 0x1021
      }
    }
  }
}
#endif
