#if Fleet
import Crypto
import FoundationEssentials
import OtaflashFirmware

/// A firmware file in the form in which it is stored with a run and passed to workers: its name,
/// the values of its sidecar file, and its bytes. Therefore, a run continues with its original
/// image, even if the file was changed.
package struct ImageBlob: Hashable, Sendable {
  /// The line before the bytes of the file.
  private struct Header: Hashable, Sendable, Codable {
    var name: String
    var version: String?
    var hardware: UInt32?
  }

  /// The stored bytes: header and file.
  package let bytes: [UInt8]
  private let header: Header
  private let contentStart: Int

  /// - Parameters:
  ///   - name: the file's last path component.
  ///   - content: the complete file.
  ///   - sidecar: the values of its sidecar file.
  package init(name: String, content: [UInt8], sidecar: ImageIdentity?) throws(ImageBlobFault) {
    header = Header(
      name: name, version: sidecar?.version?.description, hardware: sidecar?.hardware?.rawValue)
    do {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      let line = Array(try encoder.encode(header)) + [UInt8(ascii: "\n")]
      contentStart = line.count
      bytes = line + content
    } catch {
      throw ImageBlobFault()
    }
  }

  /// - Throws: a fault if the bytes are not an image with its header.
  package init(bytes: [UInt8]) throws(ImageBlobFault) {
    guard let lineEnd = bytes.firstIndex(of: UInt8(ascii: "\n")) else { throw ImageBlobFault() }
    do {
      header = try JSONDecoder().decode(Header.self, from: Data(bytes[..<lineEnd]))
    } catch {
      throw ImageBlobFault()
    }
    self.bytes = bytes
    contentStart = lineEnd + 1
  }

  /// The file's last path component.
  package var name: String { header.name }

  /// SHA-256 of the bytes, in hex digits.
  package var digest: String { Self.sha256(bytes[...]) }

  /// SHA-256 of the file, in hex digits, as `sha256sum` prints it.
  package var fileDigest: String { Self.sha256(bytes[contentStart...]) }

  private static func sha256(_ bytes: ArraySlice<UInt8>) -> String {
    SHA256.hash(data: bytes).map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }

  /// Returns the firmware in the bytes.
  package func package() throws(FirmwareFault) -> FirmwarePackage {
    var sidecar = ImageIdentity()
    sidecar.version = header.version.flatMap { FirmwareVersion($0) }
    sidecar.hardware = header.hardware.map { HardwareID(rawValue: $0) }
    return try FirmwarePackage.decode(
      name: header.name, bytes: Array(bytes[contentStart...]),
      sidecar: sidecar == ImageIdentity() ? nil : sidecar)
  }
}

/// The fault of bytes that are not an image with its header.
package struct ImageBlobFault: Error, Hashable, Sendable, CustomStringConvertible {
  package init() {}

  package var description: String { "the image of the run cannot be read" }
}
#endif
