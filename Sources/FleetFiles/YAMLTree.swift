#if Fleet
import Yams

/// A YAML document as a tree with places: texts, lists and mappings, nothing else. Anchors, aliases
/// and further documents are refused, and so is a key that comes twice.
struct YAMLTree {
  /// In bytes; 100,000 devices with all their facts are half of it.
  static let sizeLimit = 16 * 1024 * 1024
  /// Places in a text where an alias could stand. Yams takes time in proportion to what aliases
  /// stand for before anybody sees them: 16 of them stand for 256 nodes at most.
  private static let aliasPlacesMaximum = 16
  /// Places at which a part of the document may begin: 100,000 devices with all their facts have
  /// 1,500,000, and a part takes some hundred bytes of memory.
  private static let partsMaximum = 2_000_000

  let root: Node

  init(_ bytes: [UInt8]) throws(CampaignFileFault) {
    guard bytes.count <= Self.sizeLimit else {
      throw CampaignFileFault(
        at: .start, "it has more than \(Self.sizeLimit / 1024 / 1024) MiB")
    }
    let text = try FileText.utf8(bytes, of: .campaign)
    try Self.checkAliases(in: text)
    try Self.checkParts(in: text)
    root = try Self.compose(String(decoding: text, as: UTF8.self))
  }

  /// What an alias may stand behind: a blank, a line's end, an indicator (in a flow collection also
  /// `:` and `?`, without a blank).
  private static let aliasPredecessors = Set(" \t\r\n[]{},:?!&|>%@#`".utf8)
  /// The ends of lines that have several bytes, and the byte order mark.
  private static let longBreaks: Set<UInt32> = [0xE280A8, 0xE280A9, 0xEFBBBF]
  private static let nextLine: UInt32 = 0xC285

  private static func checkAliases(in bytes: [UInt8]) throws(CampaignFileFault) {
    var (line, column, places) = (1, 0, 0)
    var former = UInt32(UInt8(ascii: "\n"))
    for byte in bytes {
      column += 1
      if byte == UInt8(ascii: "*"), isBeginning(after: former) {
        places += 1
        guard places <= aliasPlacesMaximum else {
          throw CampaignFileFault(
            at: FilePlace(line: line, column: column),
            "aliases are not taken, and there is the \(places)th '*' that could be one")
        }
      }
      former = former << 8 | UInt32(byte)
      if byte == UInt8(ascii: "\n") { (line, column) = (line + 1, 0) }
    }
  }

  /// - Parameter former: the last bytes, the very last one lowest.
  private static func isBeginning(after former: UInt32) -> Bool {
    aliasPredecessors.contains(UInt8(truncatingIfNeeded: former))
      || longBreaks.contains(former & 0xFF_FFFF) || former & 0xFFFF == nextLine
  }

  private static func checkParts(in bytes: [UInt8]) throws(CampaignFileFault) {
    var (line, parts) = (1, 0)
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "\n"): (line, parts) = (line + 1, parts + 1)
      case UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "{"): parts += 1
      default: continue
      }
      guard parts <= partsMaximum else {
        throw CampaignFileFault(
          at: FilePlace(line: line, column: 1), "it has more than \(partsMaximum) parts")
      }
    }
  }

  private static func compose(_ text: String) throws(CampaignFileFault) -> Node {
    let root: Node?
    do {
      let parser = try Parser(yaml: text, encoding: .utf8)
      root = try parser.singleRoot()
      // Nodes know their anchors for as long as the parser lives.
      if let root { try checkPlain(root) }
      extendLifetime(parser)
    } catch let fault as CampaignFileFault {
      throw fault
    } catch let fault as YamlError {
      throw CampaignFileFault(fault, in: text)
    } catch {
      throw CampaignFileFault(at: .start, "it cannot be read: \(error)")
    }
    guard let root else { throw CampaignFileFault(at: .start, "it is empty") }
    return root
  }

  /// In the order of the document, so that an anchor is found before what refers to it.
  private static func checkPlain(_ node: Node) throws(CampaignFileFault) {
    guard node.anchor == nil else {
      throw CampaignFileFault(at: node.place, "anchors (&) and aliases (*) are not taken")
    }
    switch node {
    case .alias: throw CampaignFileFault(at: node.place, "anchors and aliases are not taken")
    case .scalar: break
    case .sequence(let sequence): for element in sequence { try checkPlain(element) }
    case .mapping(let mapping):
      for (key, value) in mapping {
        guard case .scalar = key else {
          throw CampaignFileFault(at: key.place, "a key is a text")
        }
        try checkPlain(key)
        try checkPlain(value)
      }
    }
  }
}

extension Node {
  var place: FilePlace {
    mark.map { FilePlace(line: $0.line, column: $0.column) } ?? .start
  }
}

extension CampaignFileFault {
  /// What Yams says, with its place.
  fileprivate init(_ fault: YamlError, in text: String) {
    switch fault {
    case .scanner(let context, let problem, let mark, _),
      .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      let place = FilePlace(line: mark.line, column: mark.column)
      let words = [context?.text, problem].compactMap(\.self).joined(separator: ", ")
      self.init(at: place, YAMLSource(text).words(of: words, at: place))
    case .duplicatedKeysInMapping(let keys, let context):
      let mapping = FilePlace(line: context.mark.line, column: context.mark.column)
      let key = keys.first.map { "\($0)" } ?? ""
      self.init(
        at: YAMLSource(text).place(ofSecond: key, inMappingAt: mapping) ?? mapping,
        "'\(key)' is there twice")
    case .reader(let problem, _, _, _): self.init(at: .start, problem)
    case .no, .memory, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
      self.init(at: .start, "it cannot be read: \(fault)")
    }
  }
}
#endif
