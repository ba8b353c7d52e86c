extension OutputFile {
  /// The kind of a file, recognized by its first bytes.
  package struct Kind: Equatable, Sendable, CustomStringConvertible {
    /// The number of bytes at the start of a file that are sufficient to recognize most kinds.
    package static let usualHeadSize = 512

    package let name: String
    /// The suffix of files of this kind; empty if these files have different suffixes.
    package let suffix: String
    /// The suffix to append to a name without `suffix`, to create a name that is probably not in
    /// use.
    package let newSuffix: String
    /// The maximum number of bytes that are passed to `begins`.
    package let headSize: Int
    package let begins: @Sendable (ArraySlice<UInt8>) -> Bool

    package init(
      _ name: String, suffix: String = "", newSuffix: String, headSize: Int = usualHeadSize,
      begins: @escaping @Sendable (ArraySlice<UInt8>) -> Bool
    ) {
      self.name = name
      self.suffix = suffix
      self.newSuffix = newSuffix
      self.headSize = headSize
      self.begins = begins
    }

    /// Creates a kind whose files are recognized by their first characters.
    package init(
      _ name: String, suffix: String = "", newSuffix: String,
      hasText isOfKind: @escaping @Sendable (String) -> Bool
    ) {
      self.init(name, suffix: suffix, newSuffix: newSuffix) {
        isOfKind(String(decoding: $0, as: UTF8.self))
      }
    }

    package var description: String { name }

    package static func == (left: Kind, right: Kind) -> Bool { left.name == right.name }
  }

  /// A name in the same folder that is probably not in use: `app.bin.btsnoop`, `plot.new.svg`.
  package var another: String {
    let stem = path.hasSuffix(kind.suffix) ? path.dropLast(kind.suffix.count) : path[...]
    return stem + kind.newSuffix
  }
}

extension OutputFile.Kind {
  // The format has the layout of RFC 1761, with another identification pattern.
  package static let btsnoop = Self(
    "btsnoop", newSuffix: ".btsnoop", begins: { $0.starts(with: Array("btsnoop\0".utf8)) })
  package static let svg = Self("SVG", suffix: ".svg", newSuffix: ".new.svg") { text in
    text.firstMatch(
      of: /^\u{FEFF}?\s*(<\?xml[^>]*>\s*|<!--(?s:.)*?-->\s*|<!DOCTYPE svg[^>]*>\s*)*<svg[\s>]/)
      != nil
  }
  package static let html = Self("HTML", newSuffix: ".new.html") {
    $0.lowercased().hasPrefix("<!doctype html>")
  }
  package static let junit = Self("JUnit", newSuffix: ".new.xml") { $0.contains("<testsuites") }
  /// A report in CSV, which is recognized by its first column.
  package static let csv = Self("CSV", newSuffix: ".new.csv") { $0.hasPrefix("device,") }
  package static let plan = Self("plan", newSuffix: ".new.json") {
    $0.hasPrefix("{\n  \"_otaflash_plan\" : ")
  }
  package static let head = Self("run head", newSuffix: ".new.head") {
    $0.hasPrefix("otaflash run head ")
  }
  package static let prometheus = Self("Prometheus", newSuffix: ".new.prom") {
    $0.hasPrefix("# HELP otaflash_run_")
  }
  // The formats are OpenSSH's PROTOCOL.sshsig, "Armored format", and minisign's "Signature format".
  package static let signature = Self("signature", newSuffix: ".new.sig") { text in
    ["-----BEGIN SSH SIGNATURE-----", "untrusted comment:"].contains(where: text.hasPrefix)
  }
}
