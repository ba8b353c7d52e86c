import Foundation
import Testing

/// The receiver in C (Sources/OTAReceiver) is for readers who port it to a device. From the link
/// down to flash, each file calls only functions of the files in lower layers.
@Suite struct ReceiverTests {
  /// The files from the lowest layer up. Each file may call its own functions, and those of the
  /// files before it.
  static let order = [
    "ota_crc32.c", "ota_delta_stream.c", "ota_delta_range.c", "ota_delta_map.c", "ota_delta.c",
    "ota_flash.c", "ota_record.c", "ota_state.c", "ota_patch.c", "ota_engine.c", "ota_update.c",
    "ota_control.c", "ota_receiver.c",
  ]

  static func code(of text: String) -> String {
    text.split(separator: "\n").map { line in
      line.range(of: "//").map { line[..<$0.lowerBound] } ?? line
    }.joined(separator: "\n")
  }

  /// The functions that other files may call: the functions that the code defines, whose names
  /// start with `ota_`, and that are not `static`.
  static func functions(in code: String) -> Set<String> {
    let definition = /^(?!static)[a-z][\w ]*[ *](ota_\w+)\([^;{]*\{/.anchorsMatchLineEndings()
    return Set(code.matches(of: definition).map { String($0.1) })
  }

  /// Each name of a function that a file uses although a higher layer defines it, as "user:
  /// function".
  static func upwardCalls(_ files: [(name: String, code: String)]) -> [String] {
    files.indices.flatMap { index in
      let above = files[(index + 1)...].reduce(into: Set()) { $0.formUnion(functions(in: $1.code)) }
      return files[index].code.matches(of: /\bota_\w+/).map { String($0.output) }
        .filter(above.contains).map { "\(files[index].name): \($0)" }
    }
  }

  @Test func callsGoDown() throws {
    let folder = ImportTests.root.appending(path: "Sources/OTAReceiver")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(Set(names.filter { $0.hasSuffix(".c") }) == Set(Self.order))
    let files = try Self.order.map { name in
      let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      return (name: name, code: Self.code(of: text))
    }
    #expect(files.reduce(0) { $0 + Self.functions(in: $1.code).count } > 40)
    #expect(Self.upwardCalls(files) == [])
  }

  @Test func aCallUpIsFound() {
    let low = (
      name: "low", code: Self.code(of: "int ota_low(int a) {\n  return ota_high(a);  // ota_x\n}")
    )
    let high = (name: "high", code: "static int helper(void) {\n}\nvoid ota_high(\n    int a) {\n}")
    #expect(Self.functions(in: high.code) == ["ota_high"])
    #expect(Self.upwardCalls([low, high]) == ["low: ota_high"])
    #expect(Self.upwardCalls([high, low]) == [])
  }
}
