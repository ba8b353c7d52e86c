#if Fleet
import Yams

/// A YAML document as a tree with positions. Only strings, lists and mappings are supported;
/// anchors, aliases, further documents and duplicate keys are errors.
struct YAMLTree {
  /// The maximum size in bytes. A list of 100,000 devices with all properties needs half of it.
  static let sizeLimit = 16 * 1024 * 1024
  /// The maximum number of possible aliases in a document. Yams expands aliases before the reader
  /// can reject them, and the time is proportional to the expanded contents. 16 aliases expand to
  /// at most 256 nodes.
  private static let aliasPlacesMaximum = 16
  /// The maximum number of elements of a document, counted as line ends, commas and opening
  /// brackets. 100,000 devices with all properties have 1,500,000 elements, and an element needs
  /// some hundred bytes of memory.
  private static let partsMaximum = 2_000_000

  let root: Node

  init(_ bytes: [UInt8]) throws(CampaignFileFault) {
    guard bytes.count <= Self.sizeLimit else {
      throw CampaignFileFault(
        at: .start, "the file is larger than \(Self.sizeLimit / 1024 / 1024) MiB")
    }
    let text = try FileText.utf8(bytes, of: .campaign)
    try Self.checkAliases(in: text)
    try Self.checkParts(in: text)
    root = try Self.compose(String(decoding: text, as: UTF8.self))
  }

  /// The characters that may precede an alias: a space, a line end, an indicator (in a flow
  /// collection also `:` and `?` without a space).
  private static let aliasPredecessors = Set(" \t\r\n[]{},:?!&|>%@#`".utf8)
  /// Line ends that consist of several bytes, and the byte order mark.
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
            "aliases are not supported; this is the \(places)th '*' that could be an alias")
        }
      }
      former = former << 8 | UInt32(byte)
      if byte == UInt8(ascii: "\n") { (line, column) = (line + 1, 0) }
    }
  }

  /// - Parameter former: the previous bytes; the last byte is in the lowest bits.
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
          at: FilePlace(line: line, column: 1), "the file has more than \(partsMaximum) elements")
      }
    }
  }

  private static func compose(_ text: String) throws(CampaignFileFault) -> Node {
    let root: Node?
    do {
      let parser = try Parser(yaml: text, encoding: .utf8)
      root = try parser.singleRoot()
      // The anchors of nodes are valid only while the parser exists.
      if let root { try checkPlain(root) }
      extendLifetime(parser)
    } catch let fault as CampaignFileFault {
      throw fault
    } catch let fault as YamlError {
      throw CampaignFileFault(fault, in: text)
    } catch {
      throw CampaignFileFault(at: .start, "the file cannot be parsed: \(error)")
    }
    guard let root else { throw CampaignFileFault(at: .start, "the file is empty") }
    return root
  }

  /// Rejects anchors, aliases and keys that are not strings, in the order of the document, in which
  /// an anchor precedes its aliases.
  private static func checkPlain(_ node: Node) throws(CampaignFileFault) {
    guard node.anchor == nil else {
      throw CampaignFileFault(at: node.place, "anchors (&) and aliases (*) are not supported")
    }
    switch node {
    case .alias: throw CampaignFileFault(at: node.place, "anchors and aliases are not supported")
    case .scalar: break
    case .sequence(let sequence): for element in sequence { try checkPlain(element) }
    case .mapping(let mapping):
      for (key, value) in mapping {
        guard case .scalar = key else {
          throw CampaignFileFault(at: key.place, "a key must be a string")
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
  /// Converts an error of Yams to a fault with its position.
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
        "duplicate key '\(key)'")
    case .reader(let problem, _, _, _): self.init(at: .start, problem)
    case .no, .memory, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
      self.init(at: .start, "the file cannot be parsed: \(fault)")
    }
  }
}
#endif
