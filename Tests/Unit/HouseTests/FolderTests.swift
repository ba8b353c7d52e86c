import Foundation
import Testing

/// Tests that the folders of a target have an order, like the targets. A file uses top-level types,
/// free functions and members of extensions only of its folder and of earlier folders, so each
/// folder can be read with the earlier folders as its only context.
@Suite struct FolderTests {
  /// The folders of each target in order; `""` is the target's own folder.
  static let order: [String: [String]] = [
    "Numerals": [""],
    "Wire": ["", "CBOR", "SMP"],
    "ATT": [""],
    "GATT": [
      "Faults", "Time", "Concurrency", "Attributes", "Link", "Queue", "Client", "Server",
      "Scanning", "Connection", "Capture",
    ],
    "Firmware": [
      "Bytes", "Addresses", "Identity", "Text", "IntelHex", "SRecord", "UF2", "ELF", "Zip",
      "Manifest", "Resources", "NordicDFU", "MCUboot", "ESP", "GBL", "Telink", "SUOTA", "TIOAD",
      "Microbit", "Image", "Package", "Verification",
    ],
    "Delta": ["Format", "Addresses", "Matching", "Codecs", "Patch", "Plan"],
    "Simulation": [
      "Time", "Flash", "Radio", "Profile", "Bootloader", "Board", "NordicShared", "OTAShared",
      "OTAReceiver", "NordicSecure", "NordicLegacy", "SMP", "Espressif", "SiliconLabs",
      "Telink", "SUOTA", "TIOAD", "Microbit", "Catalogue", "Neighbourhood",
    ],
    "BlueZ": [
      "", "EventLoop", "System", "Socket", "Mgmt", "HCI", "Security", "Tuning", "Link", "Central",
      "Doctor",
    ],
    "Update": [
      "Report", "Contract", "LifeCycle", "Patches", "OTAService", "SMP", "NordicShared",
      "MicrobitShared",
      "NordicSecure", "NordicLegacy", "Espressif", "SiliconLabs", "Telink", "SUOTA", "TIOAD",
      "Microbit", "FileTransfer", "Procedures",
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
    "NATS": ["Connection", "JetStream", "KeyValue"],
    "Sites": [
      "Layout", "Entries", "Files", "Keys", "Credentials", "Images", "Presence", "Leader",
      "Exchange",
    ],
    "SitesPage": [
      "Accounts", "Model", "Security", "Text", "Server", "Views", "Routes", "",
    ],
    "SiteHost": ["Connection", "Gateway", "Coordinator"],
    "FleetForecast": [""],
    "FleetReport": ["Text", "Run", "Tables", "Page"],
    "Console": ["Text", "Grammar", "Files", "Project", "Output", "Session", "Terminal"],
    "Devices": [
      "Grammar", "Faults", "Output", "Session", "Air", "Connection", "Serving", "Images",
      "Watching", "Choosing", "DeviceConsole",
    ],
    "Bench": ["Benchmark", "SelfTest"],
    "FleetHost": ["Faults", "Output", "Display", "Storage", "Campaign", "Transport", "Run"],
    "FleetCommands": ["Options", "Plan", "Requests", "Results", ""],
    "Program": ["Faults", "Process"],
    "otaflash": ["Commands", "Process"],
    "otaflash-gateway": [""],
    "otaflash-coordinator": [""],
  ]

  /// Folders of a target that must be independent of each other, regardless of their order: the
  /// protocols, the file formats, the formats of a report, and the two parts of `Bench`.
  static let siblings: [String: Set<String>] = [
    "FleetReport": ["Tables", "Page"],
    "Bench": ["Benchmark", "SelfTest"],
    "Firmware": [
      "IntelHex", "SRecord", "UF2", "ELF", "Zip", "ESP", "GBL", "Telink", "SUOTA", "TIOAD",
    ],
    "Update": [
      "OTAService", "SMP", "NordicSecure", "NordicLegacy", "Espressif", "SiliconLabs", "Telink",
      "SUOTA", "TIOAD", "Microbit", "FileTransfer",
    ],
    "Simulation": [
      "OTAReceiver", "SMP", "NordicSecure", "NordicLegacy", "Espressif", "SiliconLabs", "Telink",
      "SUOTA", "TIOAD",
    ],
  ]

  /// Whether `folder` may use declarations of `other`, a different folder.
  static func mayUse(_ other: String, from folder: String, in target: String) -> Bool {
    guard let order = order[target], let place = order.firstIndex(of: folder),
      let otherPlace = order.firstIndex(of: other)
    else { return false }
    let siblings = siblings[target] ?? []
    return otherPlace < place && !(siblings.contains(folder) && siblings.contains(other))
  }

  @Test(arguments: order.keys.sorted())
  func aFolderNamesOnlyTypesOfEarlierOnes(_ target: String) throws {
    let order = try #require(Self.order[target])
    let sources = Self.sources.filter { $0.path.hasPrefix("Sources/\(target)/") }
    #expect(
      Set(sources.map(\.folder)) == Set(order), "the order has every folder of Sources/\(target)")
    var home: [String: Source] = [:]
    for source in sources { for type in source.code.declared { home[type] = home[type] ?? source } }
    for source in sources {
      for type in source.code.named.subtracting(source.code.declared).sorted() {
        guard let other = home[type], other.folder != source.folder else { continue }
        #expect(
          Self.mayUse(other.folder, from: source.folder, in: target),
          "\(source.path) names \(type) of \(other.path)")
      }
    }
  }

  /// The locations at which a file uses a function or a member of an extension in a folder that it
  /// may not use. The test does not know the types of receivers, so a name counts only if the
  /// sources declare it once.
  private static func wrongUses(
    in target: String, of sources: [Source], declaredOnceIn all: [Source]
  ) -> [String] {
    let count = all.reduce(into: [String: Int]()) { count, source in
      let isOwn = source.path.hasPrefix("Sources/\(target)/")
      count.merge(isOwn ? source.code.count : source.code.visibleCount, uniquingKeysWith: +)
    }
    var home: [String: Source] = [:]
    for source in sources {
      for name in source.code.additions where count[name] == 1 { home[name] = source }
    }
    return sources.flatMap { source in
      source.code.used.compactMap { name in
        guard let other = home[name], other.folder != source.folder,
          !mayUse(other.folder, from: source.folder, in: target)
        else { return nil }
        return "\(source.path) uses \(name) of \(other.path)"
      }.sorted()
    }
  }

  @Test func aFolderUsesOnlyMembersOfEarlierOnes() throws {
    for target in Self.order.keys.sorted() {
      let sources = Self.sources.filter { $0.path.hasPrefix("Sources/\(target)/") }
      #expect(Self.wrongUses(in: target, of: sources, declaredOnceIn: Self.sources) == [])
    }
  }

  @Test func aWrongUseIsFound() {
    let sources = [
      Source(path: "Sources/Delta/Format/A.swift", text: "let a = 3.tripled + doubled(4)\n"),
      Source(
        path: "Sources/Delta/Patch/B.swift",
        text: """
          extension Int {
            var tripled: Int { self * 3 }
            private var own: Int { 1 }
          }
          package func doubled(_ number: Int) -> Int { number * 2 }
          """),
    ]
    #expect(
      Self.wrongUses(in: "Delta", of: sources, declaredOnceIn: sources) == [
        "Sources/Delta/Format/A.swift uses doubled of Sources/Delta/Patch/B.swift",
        "Sources/Delta/Format/A.swift uses tripled of Sources/Delta/Patch/B.swift",
      ])
  }

  /// The folders of `Update` that know no delivery method except the unchanged image, so a new
  /// delivery method needs no code there.
  private static let engine = ["Report", "Contract", "LifeCycle", "Procedures"]

  /// The lines of a file that name patches, in code or in comments.
  private static func namesOfPatches(in file: (path: String, text: String)) -> [String] {
    guard engine.contains(where: { file.path.hasPrefix("Sources/Update/\($0)/") }) else {
      return []
    }
    return file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
      .filter { $0.element.lowercased().contains(/patch|delta/) }
      .map { "\(file.path):\($0.offset + 1)" }
  }

  @Test func theLifeCycleNamesNoPatches() throws {
    let files = try ImportTests.files(of: "Sources/Update")
    let folders = files.map { String($0.path.split(separator: "/")[2]) }
    #expect(Self.engine.allSatisfy(folders.contains))
    #expect(files.flatMap(Self.namesOfPatches) == [])
  }

  @Test func aPlantedPatchIsFound() {
    let text = "let a = 1\n/// Undelta'd.\nlet takesPatches = true\n"
    #expect(
      Self.namesOfPatches(in: ("Sources/Update/Contract/A.swift", text)) == [
        "Sources/Update/Contract/A.swift:2", "Sources/Update/Contract/A.swift:3",
      ])
    #expect(Self.namesOfPatches(in: ("Sources/Update/Patches/A.swift", text)) == [])
  }

  @Test func siblingsMayNotUseEachOther() {
    #expect(Self.mayUse("Report", from: "SMP", in: "Update"))
    #expect(!Self.mayUse("SMP", from: "Report", in: "Update"))
    #expect(!Self.mayUse("OTAService", from: "SMP", in: "Update"))
  }

  @Test func everyTargetHasAnOrder() throws {
    let sources = ImportTests.root.appending(path: "Sources").path
    let targets = try FileManager.default.contentsOfDirectory(atPath: sources).filter { target in
      try !ImportTests.files(of: "Sources/\(target)").isEmpty
    }
    #expect(Set(targets) == Set(Self.order.keys))
  }

  private static let sources: [Source] = {
    do { return try ImportTests.files(of: "Sources").map(Source.init) } catch {
      preconditionFailure("the sources cannot be read: \(error)")
    }
  }()

  /// A Swift file and its names.
  private struct Source {
    let path: String
    let folder: String
    let code: Code

    init(path: String, text: String) {
      self.path = path
      // The parts of the path: Sources, the target, its folders, the file.
      folder = path.split(separator: "/").dropFirst(2).dropLast().joined(separator: "/")
      code = Code(text)
    }
  }
}

/// The words of a Swift file without comments and literals. It is not a parser: it requires the
/// format of the formatter, in which top-level declarations start a line.
private struct Code {
  private static let kinds: Set<String> = [
    "struct", "enum", "class", "actor", "protocol", "typealias",
  ]

  private static let keywords: Set<String> = [
    "func", "var", "let", "case", "struct", "enum", "class", "actor", "protocol", "typealias",
  ]

  /// Top-level types.
  private(set) var declared: Set<String> = []
  /// Capitalized words that are not members.
  private(set) var named: Set<String> = []
  /// Free functions and members of extensions, without private ones.
  private(set) var additions: Set<String> = []
  /// The number of declarations of each name, at any level.
  private(set) var count: [String: Int] = [:]
  /// The same numbers without private declarations.
  private(set) var visibleCount: [String: Int] = [:]
  /// Members of a value or type, and functions that are called.
  private(set) var used: Set<String> = []

  init(_ text: String) {
    var isExtension = false
    for line in Self.stripped(text).split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      let isPrivate = words.contains { $0.hasSuffix("private") }
      if !line.hasPrefix(" "), let kind = words.firstIndex(where: Self.kinds.contains),
        kind + 1 < words.count, !words[..<kind].contains(where: { $0.hasSuffix("private") })
      {
        declared.insert(String(words[kind + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" }))
      }
      if !line.hasPrefix(" "), !line.hasPrefix("}") {
        isExtension = words.prefix(2).contains("extension") && !isPrivate
      }
      let isFree = !line.hasPrefix(" ") && words.contains("func")
      let isMember = isExtension && line.hasPrefix("  ") && !line.hasPrefix("   ")
      readDeclarations(of: line, areAdditions: (isFree || isMember) && !isPrivate)
      readNames(of: line.utf8)
    }
  }

  private mutating func readDeclarations(of line: Substring, areAdditions: Bool) {
    let words = SourceWords.words(in: line).map(String.init)
    for (keyword, name) in zip(words, words.dropFirst()) where Self.keywords.contains(keyword) {
      count[name, default: 0] += 1
      if !line.contains("private ") { visibleCount[name, default: 0] += 1 }
      if areAdditions, keyword == words.first(where: Self.keywords.contains), keyword != "case" {
        additions.insert(name)
      }
    }
    // The names in `case one, two(Int), three`, but not in the cases of a `switch`.
    guard words.first == "case", line.contains(/case \w+(\(.*\))?,/), !line.hasSuffix(":") else {
      return
    }
    for match in line.matches(of: /, (\w+)(?![\w:])/) {
      count[String(match.output.1), default: 0] += 1
      visibleCount[String(match.output.1), default: 0] += 1
    }
  }

  private mutating func readNames(of line: Substring.UTF8View) {
    var word: [UInt8] = []
    var before: UInt8 = 0x20
    for byte in line + [0x20] {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: word.append(byte)
      default:
        if let first = word.first {
          let name = String(decoding: word, as: UTF8.self)
          let isMember = before == UInt8(ascii: ".")
          if (0x41...0x5A).contains(first), !isMember { named.insert(name) }
          if isMember || byte == UInt8(ascii: "(") { used.insert(name) }
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
      // In a line that is split at quotation marks, every second part is a literal.
      let quoted = line.replacing("\\\"", with: "").components(separatedBy: "\"")
      let bare = quoted.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
      code += bare.joined(separator: " ").components(separatedBy: "//")[0] + "\n"
    }
    return code
  }
}
