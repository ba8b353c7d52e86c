import Foundation
import Testing

/// The folders of a target have an order, as the targets have: a file names top-level types of its own
/// folder and of earlier ones only. So whoever opens a folder knows what it can rest on.
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
      "Octets", "Addresses", "Identity", "Text", "IntelHex", "SRecord", "UF2", "ELF", "Zip",
      "Manifest", "NordicDFU", "MCUboot", "Image", "Package", "Verification",
    ],
    "Delta": ["Format", "Matching", "Codecs", "Patch", "Plan"],
    "Simulation": [
      "Time", "Flash", "Radio", "Profile", "BootLoader", "Board", "NordicShared", "OTAReceiver",
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
      Set(sources.map(\.folder)) == Set(order), "the order names every folder of Sources/\(target)")
    var home: [String: Source] = [:]
    for source in sources { for type in source.declared { home[type] = home[type] ?? source } }
    for source in sources {
      let place = try #require(order.firstIndex(of: source.folder))
      for type in source.named.subtracting(source.declared).sorted() {
        guard let other = home[type], other.folder != source.folder else { continue }
        let otherPlace = try #require(order.firstIndex(of: other.folder))
        #expect(
          otherPlace < place,
          "\(source.path) names \(type), which lies in \(other.path), a folder that comes later")
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

/// What a reader of names sees of a Swift file: its words without comments and literals. Not a parser:
/// it counts on the format that the formatter makes, in which top-level declarations begin a line.
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

  /// Capitalized words that are no members of something.
  private mutating func readNames(of line: Substring.UTF8View) {
    var word: [UInt8] = []
    var before: UInt8 = 0x20
    for octet in line + [0x20] {
      switch octet {
      case 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: word.append(octet)
      default:
        if let first = word.first {
          if (0x41...0x5A).contains(first), before != UInt8(ascii: ".") {
            named.insert(String(decoding: word, as: UTF8.self))
          }
          word = []
        }
        before = octet
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
