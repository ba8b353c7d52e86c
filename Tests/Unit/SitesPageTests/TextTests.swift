#if Sites
import Foundation
import OtaflashFleetSamples
import Testing

@testable import OtaflashSitesPage

@Suite struct TextTests {
  @Test(arguments: SampleRun.hostileNames)
  func insertedTextIsEscaped(_ name: String) {
    let html: HTML = "<p title=\"\(name)\">\(name)</p>"
    let inner = html.text.dropFirst("<p title=\"".count).dropLast("</p>".count)
    let parts = inner.utf8.split(separator: UInt8(ascii: ">"), maxSplits: 1)
    // Only the quotation mark and the bracket of the literal remain.
    #expect(parts.count == (name.isEmpty ? 1 : 2))
    #expect(inner.utf8.count { $0 == UInt8(ascii: "<") } == 0)
    #expect(inner.utf8.count { $0 == UInt8(ascii: "\"") } == 1)
    #expect(inner.utf8.count { $0 == UInt8(ascii: ">") } == 1)
    let path: HTML = "\(path: name)"
    #expect(
      path.text.utf8.allSatisfy { byte in
        byte == UInt8(ascii: "%") || Character(UnicodeScalar(byte)).isLetter
          || Character(UnicodeScalar(byte)).isNumber || "-._~".utf8.contains(byte)
      })
    #expect(Address.decoded(path.text) == name)
  }

  @Test(arguments: ["%", "%4", "%GG", "%FF", "%C0%AF", "a%"])
  func invalidEncodingIsRefused(_ text: String) {
    #expect(Address.decoded(text) == nil)
    #expect(FormValues(encoded: "a=\(text)") == nil)
  }

  @Test func formsAreDecoded() throws {
    let values = try #require(FormValues(encoded: "a=1+2&b=%26%3D&a=x&c=&d"))
    #expect(values["a"] == "1 2")
    #expect(values.all("a") == ["1 2", "x"])
    #expect(values["b"] == "&=")
    #expect(values["c"] == nil)
    #expect(values["e"] == nil)
    #expect(FormValues(encoded: String(repeating: "a=1&", count: 2000)) == nil)
    #expect(FormValues(encoded: "a=1&a=2", isStrict: true) == nil)
    #expect(FormValues(encoded: "a=", isStrict: true)?["a"] == "")
  }

  private static func multipart(_ text: String) -> Multipart? {
    Multipart(Array(text.utf8), boundary: "b")
  }

  @Test func multipartBodiesAreParsed() throws {
    let text =
      "--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n2\r\n--b\r\n"
      + "content-disposition: form-data; name=\"f\"; filename=\"a%22 \u{E4}.bin\"\r\n"
      + "Content-Type: image/png\r\n\r\n\r\n--b--\r\n"
    let parts = try #require(Self.multipart(text)).parts
    #expect(parts.map(\.name) == ["x", "f"])
    #expect(String(decoding: parts[0].bytes, as: UTF8.self) == "1\r\n2")
    #expect(parts[1].fileName == "a\" \u{E4}.bin")
    #expect(parts[1].bytes.isEmpty)
    #expect(Multipart.boundary(ofType: "multipart/form-data; boundary=\"b c\"") == "b c")
    #expect(Multipart.boundary(ofType: "Multipart/Form-Data;boundary=b") == "b")
    #expect(Multipart.boundary(ofType: "application/json; boundary=b") == nil)
  }

  /// Every incomplete body is refused, and a body with a changed byte does not trap.
  @Test func brokenMultipartBodiesAreRefused() {
    let text = Array(
      "--b\r\nContent-Disposition: form-data; name=\"x\"; filename=\"y\"\r\n\r\nz\r\n--b--".utf8)
    for end in 0..<(text.count - 2) {
      #expect(Multipart(Array(text[..<end]), boundary: "b") == nil)
    }
    for place in text.indices {
      for byte in [0, 13, 10, 34, 45, 255] as [UInt8] {
        var changed = text
        changed[place] = byte
        _ = Multipart(changed, boundary: "b")
      }
    }
    #expect(Multipart(text, boundary: "") == nil)
    #expect(Multipart([], boundary: "b") == nil)
  }

  @Test(arguments: [
    nil, "", " ", " x", "\n", "a\u{0}", "a\nb", "a\u{202E}b", String(repeating: "a", count: 501),
  ])
  func badReasonsAreRefused(_ text: String?) {
    #expect(throws: PageError.self) { try CommandReason.checked(text) }
  }

  @Test(arguments: ["x", "as agreed with Bo, ticket 17", "日本語", String(repeating: "a", count: 500)])
  func goodReasonsAreKept(_ text: String) throws {
    #expect(try CommandReason.checked(text) == text)
  }
}
#endif
