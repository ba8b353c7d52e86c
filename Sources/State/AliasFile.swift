/// The user's aliases on disk, in `aliases.json`. The file is separate from the registry, because
/// the registry drops devices that were not seen for a long time.
package struct AliasFile: Sendable {
  /// The maximum size in bytes, sufficient for the maximum number of aliases with the maximum
  /// length.
  static let sizeLimit = 16 << 20
  private static let format = 1

  private struct Page: SoundContent {
    private enum CodingKeys: CodingKey, CaseIterable { case format, aliases }

    struct Entry: Codable {
      let alias: String
      let device: String
    }

    let entries: [Entry]
    var others = KeptMembers()

    init(_ aliases: DeviceAliases, others: KeptMembers) {
      entries = aliases.all.map { Entry(alias: $0.alias.description, device: $0.device) }
      self.others = others
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      entries = try container.decode([Entry].self, forKey: .aliases)
      others = try KeptMembers(in: decoder, besides: CodingKeys.allCases)
    }

    func encode(to encoder: any Encoder) throws {
      try others.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(AliasFile.format, forKey: .format)
      try container.encode(entries, forKey: .aliases)
    }

    var isSound: Bool { aliases != nil }

    /// The aliases; `nil` if the content is invalid.
    var aliases: DeviceAliases? {
      var aliases = DeviceAliases()
      do {
        for entry in entries {
          guard try aliases.name(entry.device, DeviceAlias(entry.alias)) == nil else { return nil }
        }
      } catch {
        return nil
      }
      return aliases
    }
  }

  private let json: VersionedJSON<Page>
  private let lockPath: String

  /// - Parameter directory: the state directory, which must exist for changes
  ///   (`StateDirectory.create()`).
  package init(in directory: StateDirectory) {
    json = VersionedJSON(
      file: AtomicFile(path: directory.aliasesPath, limit: Self.sizeLimit), format: Self.format)
    lockPath = directory.aliasesPath + ".lock"
  }

  /// Returns the aliases, or no content if there is no file. Shell completion uses this function,
  /// so it acquires no lock and creates no file. Without the lock, the content is still complete,
  /// because the file is replaced atomically.
  package func load() throws(StateFault) -> Recalled<DeviceAliases> {
    let page = try json.read()
    return Recalled(content: page.content?.aliases, setAside: page.setAside)
  }

  /// Reads, changes and writes the aliases in one locked operation.
  ///
  /// - Returns: the result of `change`, and the new path of a damaged file if the file was damaged.
  package func update<Value>(
    _ change: (inout DeviceAliases) -> Value
  ) throws(StateFault) -> (value: Value, setAside: String?) {
    let turn = try FileTurn(at: lockPath, within: FileTurn.patience)
    defer { extendLifetime(turn) }
    let page = try json.read()
    let former = page.content?.aliases ?? DeviceAliases()
    var aliases = former
    let value = change(&aliases)
    if aliases != former {
      try json.write(Page(aliases, others: page.content?.others ?? KeptMembers()))
    }
    return (value, page.setAside)
  }
}
