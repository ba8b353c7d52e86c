import FoundationEssentials

/// The content of a file of the state directory.
public struct Recalled<Content: Sendable>: Sendable {
  /// The content; `nil` if the file did not exist or was damaged.
  public let content: Content?
  /// The new path of a damaged file, for a message to the user.
  public let setAside: String?
}

extension Recalled: Equatable where Content: Equatable {}

/// The decoded content of a file.
protocol SoundContent: Codable, Sendable {
  /// Whether the content is valid, for example whether its numbers are in range.
  var isSound: Bool { get }
}

/// A JSON file with a member for the number of its format: `{"format":1, …}`.
struct VersionedJSON<Content: SoundContent>: Sendable {
  private struct FormatField: Decodable {
    let format: Int
  }

  let file: AtomicFile
  /// The format that is written, which is also the highest format that can be read.
  let format: Int

  /// Reads the file. A damaged or oversized file is renamed and reported, so that its content is
  /// not lost and later runs do not fail.
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
      preconditionFailure("records contain only texts and finite numbers: \(error)")
    }
    try file.replace(with: bytes)
  }

  private func decoded<Part: Decodable>(_ type: Part.Type, _ bytes: [UInt8]) -> Part? {
    do {
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch {
      // The caller renames the file, so that the user can examine it.
      return nil
    }
  }
}
