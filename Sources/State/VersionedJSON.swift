import FoundationEssentials

/// What a file of ours held.
public struct Recalled<Content: Sendable>: Sendable {
  /// `nil` when there was no file, or a damaged one.
  public let content: Content?
  /// Where a damaged file was put; to be told to the user.
  public let setAside: String?
}

extension Recalled: Equatable where Content: Equatable {}

/// What a file of ours holds, once it was read.
protocol SoundContent: Codable, Sendable {
  /// Whether its numbers can be what we wrote.
  var isSound: Bool { get }
}

/// A JSON file with a number for its format: `{"format":1, …}`.
struct VersionedJSON<Content: SoundContent>: Sendable {
  private struct FormatField: Decodable {
    let format: Int
  }

  let file: AtomicFile
  /// The format written, and the highest that can be read.
  let format: Int

  /// Reads the file. One that is damaged, or larger than its limit, is renamed and reported: it is
  /// neither lost without a word nor does it stand in the way for ever.
  func read() throws(StateFault) -> Recalled<Content> {
    let bytes: [UInt8]?
    do throws(StateFault) {
      bytes = try file.read()
    } catch .tooLarge {
      return Recalled(content: nil, setAside: try file.setAside())
    }
    guard let bytes else { return Recalled(content: nil, setAside: nil) }
    guard let found = decoded(FormatField.self, bytes)?.format, found > 0 else {
      return Recalled(content: nil, setAside: try file.setAside())
    }
    guard found <= format else { throw .newerFormat(path: file.path, format: found) }
    guard let content = decoded(Content.self, bytes), content.isSound else {
      return Recalled(content: nil, setAside: try file.setAside())
    }
    return Recalled(content: content, setAside: nil)
  }

  func write(_ content: Content) throws(StateFault) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let bytes: [UInt8]
    do {
      bytes = try [UInt8](encoder.encode(content)) + [UInt8(ascii: "\n")]
    } catch {
      preconditionFailure("our own records are texts and finite numbers: \(error)")
    }
    try file.replace(with: bytes)
  }

  private func decoded<Part: Decodable>(_ type: Part.Type, _ bytes: [UInt8]) -> Part? {
    do {
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch {
      // Whatever is wrong with it, the caller sets the file aside for a person to look at.
      return nil
    }
  }
}
