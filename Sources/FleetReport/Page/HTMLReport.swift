#if Fleet
import Crypto
import Mustache
import OtaflashATT
import OtaflashFleet

/// A run's report as one HTML file that opens from disk. The file loads no other files, is readable
/// without its script, and permits no other script.
package enum HTMLReport {
  package static func text(
    _ report: RunReport, in surroundings: ReportSurroundings
  ) -> String {
    template.render(PageView(report: report, surroundings: surroundings).values)
  }

  private static let template: MustacheTemplate = {
    MustacheContentTypes.register(PageContent(), named: PageContent.name)
    do { return try MustacheTemplate(string: PageTemplate.text) } catch {
      preconditionFailure("the built-in page template is invalid: \(error)")
    }
  }()

  /// The Content Security Policy: it permits no loads, and only the page's own style and script, by
  /// their hashes.
  package static let policy: String = {
    "default-src 'none'; style-src '\(hash(of: PageStyle.text))'; "
      + "script-src '\(hash(of: PageScript.text))'; base-uri 'none'; form-action 'none'"
  }()

  /// Returns the hash source of an inline style or script (CSP 3, 2.3.1).
  private static func hash(of text: String) -> String {
    "sha256-" + base64(Array(SHA256.hash(data: Array(text.utf8))))
  }

  /// Returns the bytes in Base64 encoding (RFC 4648, 4).
  private static func base64(_ bytes: [UInt8]) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for place in 0..<4 {
        text.append(place <= group.count ? letters[bits >> (18 - 6 * place) & 63] : "=")
      }
    }
    return text
  }
}
#endif
