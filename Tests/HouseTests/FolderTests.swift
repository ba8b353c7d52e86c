import Foundation
import Testing

/// The folders of a target have an order, like the targets: a file uses top-level types of its
/// folder and of earlier ones only. The dependencies of a folder are therefore known.
@Suite struct FolderTests {
  /// Each target's folders, the lowest first; `""` is the target's own folder.
  static let order: [String: [String]] = [
    "Wire": ["", "CBOR", "SMP"],
    "ATT": [""],
    "GATT": [
      "Faults", "Time", "Concurrency", "Attributes", "Link", "Queue", "Client", "Server",
      "Scanning", "Connection", "Capture",
    ],
    "Firmware": [
      "Bytes", "Addresses", "Identity", "Text", "IntelHex", "SRecord", "UF2", "ELF", "Zip",
      "Manifest", "NordicDFU", "MCUboot", "Image", "Package", "Verification",
    ],
    "Delta": ["Format", "Matching", "Codecs", "Patch", "Plan"],
    "Simulation": [
      "Time", "Flash", "Radio", "Profile", "Bootloader", "Board", "NordicShared", "OTAReceiver",
      "NordicSecure", "NordicLegacy", "SMP", "Catalogue", "Neighbourhood",
    ],
    "BlueZ": [
      "", "EventLoop", "System", "Socket", "Mgmt", "HCI", "Security", "Tuning", "Link", "Central",
      "Doctor",
    ],
    "Update": [
      "Report", "Contract", "LifeCycle", "OTAService", "SMP", "NordicShared", "NordicSecure",
      "NordicLegacy", "Procedures",
    ],
    "State": [""],
    "Foundation": [""],
    "Fleet": [
      "Structures", "Selection", "Hooks", "Campaign", "Events", "Exchange", "Rules", "Work",
    ],
    "FleetFiles": [""],
    "FleetStore": [""],
    "FleetEngine": [""],
    "FleetHooks": [""],
    "FleetForecast": [""],
    "FleetReport": ["Text", "Run", "Tables", "Page"],
    "otaflash": [
      "Text", "Grammar", "Files", "Faults", "Output", "Session", "Terminal", "Devices",
      "Choosing", "Images", "Benchmark",
      "SelfTest", "Fleet", "Commands", "FleetCommands", "Process",
    ],
  ]

  @Test(arguments: order.keys.sorted())
  func aFolderNamesOnlyTypesOfEarlierOnes(_ target: String) throws {
    let order = try #require(Self.order[target])
    let sources = try ImportTests.files(of: "Sources/\(target)").map(Source.init)
    #expect(
      Set(sources.map(\.folder)) == Set(order), "the order has every folder of Sources/\(target)")
    var home: [String: Source] = [:]
    for source in sources { for type in source.declared { home[type] = home[type] ?? source } }
    for source in sources {
      let place = try #require(order.firstIndex(of: source.folder))
      for type in source.named.subtracting(source.declared).sorted() {
        guard let other = home[type], other.folder != source.folder else { continue }
        let otherPlace = try #require(order.firstIndex(of: other.folder))
        #expect(
          otherPlace < place,
          "\(source.path) uses \(type), which is in \(other.path), a later folder")
      }
    }
  }

  @Test func everyTargetHasAnOrder() throws {
    let sources = ImportTests.root.appending(path: "Sources").path
    let targets = try FileManager.default.contentsOfDirectory(atPath: sources).filter { target in
      try !ImportTests.files(of: "Sources/\(target)").isEmpty
    }
    #expect(Set(targets) == Set(Self.order.keys))
  }

  /// A Swift file, what it declares at its top level, and the types that it names.
  private struct Source {
    let path: String
    let folder: String
    let declared: Set<String>
    let named: Set<String>

    init(path: String, text: String) {
      self.path = path
      // Sources, the target, its folders, the file.
      folder = path.split(separator: "/").dropFirst(2).dropLast().joined(separator: "/")
      let code = Code(text)
      declared = code.declared
      named = code.named
    }
  }
}

/// The words of a Swift file without comments and literals. It is not a parser: it requires the
/// format of the formatter, in which top-level declarations start a line.
private struct Code {
  private static let kinds: Set<String> = [
    "struct", "enum", "class", "actor", "protocol", "typealias",
  ]

  private(set) var declared: Set<String> = []
  private(set) var named: Set<String> = []

  init(_ text: String) {
    for line in Self.stripped(text).split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      if !line.hasPrefix(" "), let kind = words.firstIndex(where: Self.kinds.contains),
        kind + 1 < words.count, !words[..<kind].contains(where: { $0.hasSuffix("private") })
      {
        declared.insert(String(words[kind + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" }))
      }
      readNames(of: line.utf8)
    }
  }

  /// Capitalized words that are not members of another declaration.
  private mutating func readNames(of line: Substring.UTF8View) {
    var word: [UInt8] = []
    var before: UInt8 = 0x20
    for byte in line + [0x20] {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: word.append(byte)
      default:
        if let first = word.first {
          if (0x41...0x5A).contains(first), before != UInt8(ascii: ".") {
            named.insert(String(decoding: word, as: UTF8.self))
          }
          word = []
        }
        before = byte
      }
    }
  }

  private static func stripped(_ text: String) -> String {
    var code = ""
    var isInLongLiteral = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let parts = line.components(separatedBy: "\"\"\"")
      if parts.count % 2 == 0 { isInLongLiteral.toggle() }
      guard !isInLongLiteral, parts.count == 1 else { continue }
      // Every second part between quotation marks is a literal.
      let quoted = line.replacing("\\\"", with: "").components(separatedBy: "\"")
      let bare = quoted.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
      code += bare.joined(separator: " ").components(separatedBy: "//")[0] + "\n"
    }
    return code
  }
}
