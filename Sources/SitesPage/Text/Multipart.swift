#if Sites
/// A body with several parts (RFC 7578), the form in which browsers send files.
struct Multipart: Sendable {
  struct Part: Sendable {
    let name: String
    let fileName: String?
    let bytes: ArraySlice<UInt8>
  }

  private static let partsMaximum = 1000
  private static let headMaximum = 4096
  private static let lineBreak: [UInt8] = [13, 10]

  let parts: [Part]

  /// Decodes a body; returns `nil` if the body is not valid.
  init?(_ body: [UInt8], boundary: String) {
    let delimiter = Array("--\(boundary)".utf8)
    guard (1...70).contains(boundary.utf8.count), body.starts(with: delimiter) else { return nil }
    var parts: [Part] = []
    var rest = body[delimiter.count...]
    while true {
      if rest.starts(with: Array("--".utf8)) { break }
      guard rest.starts(with: Self.lineBreak), parts.count < Self.partsMaximum else { return nil }
      rest = rest.dropFirst(2)
      guard let end = Self.find(Self.lineBreak + delimiter, in: rest) else { return nil }
      guard let part = Self.part(rest[..<end]) else { return nil }
      parts.append(part)
      rest = rest[(end + 2 + delimiter.count)...]
    }
    self.parts = parts
  }

  /// Returns the boundary of a content type; `nil` if the type is not `multipart/form-data`.
  static func boundary(ofType type: String) -> String? {
    let parts = type.split(separator: ";").map { $0.trimmingSpaces }
    guard parts.first?.lowercased() == "multipart/form-data" else { return nil }
    for part in parts.dropFirst() where part.lowercased().hasPrefix("boundary=") {
      let value = part.dropFirst("boundary=".count)
      return value.hasPrefix("\"") && value.hasSuffix("\"") && value.utf8.count >= 2
        ? String(value.dropFirst().dropLast()) : String(value)
    }
    return nil
  }

  private static func part(_ bytes: ArraySlice<UInt8>) -> Part? {
    guard let end = find(lineBreak + lineBreak, in: bytes.prefix(headMaximum)) else { return nil }
    guard let head = String(validating: bytes[..<end], as: UTF8.self) else { return nil }
    for line in head.split(separator: "\r\n")
    where line.lowercased().hasPrefix("content-disposition:") {
      let values = parameters(of: String(line.dropFirst("content-disposition:".count)))
      guard let name = values["name"] else { return nil }
      return Part(name: name, fileName: values["filename"], bytes: bytes[(end + 4)...])
    }
    return nil
  }

  /// Returns the quoted values, as in `form-data; name="campaign"; filename="a.yaml"`. Browsers
  /// encode `"` and line breaks in a name as `%22`, `%0D` and `%0A`.
  private static func parameters(of text: String) -> [String: String] {
    var values: [String: String] = [:]
    for match in text.matches(of: /;\s*([A-Za-z]+)="([^"]*)"/) {
      let name = match.output.1.lowercased()
      guard values[name] == nil else { continue }
      values[name] = String(match.output.2).replacing("%22", with: "\"")
        .replacing("%0D", with: "\r").replacing("%0A", with: "\n")
    }
    return values
  }

  private static func find(_ pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
    guard bytes.count >= pattern.count else { return nil }
    return bytes.withUnsafeBufferPointer { buffer in
      pattern.withUnsafeBufferPointer { pattern in
        var start = 0
        let last = buffer.count - pattern.count
        while start <= last {
          var offset = 0
          while offset < pattern.count, buffer[start + offset] == pattern[offset] { offset += 1 }
          if offset == pattern.count { return bytes.startIndex + start }
          start += 1
        }
        return nil
      }
    }
  }
}

extension Substring {
  fileprivate var trimmingSpaces: Substring {
    var text = self
    while text.first == " " || text.first == "\t" { text.removeFirst() }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return text
  }
}
#endif
