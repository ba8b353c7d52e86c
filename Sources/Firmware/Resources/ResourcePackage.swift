/// The files of a package with the external resources of InfiniTime (`doc/ExternalResources.md`):
/// fonts and pictures, which the watch stores in its file system. The archive contains the files
/// and `resources.json`, which assigns a path to each file, and lists obsolete files.
public struct ResourcePackage: Equatable, Sendable {
  /// A file of the package.
  public struct File: Equatable, Sendable {
    /// The name in the archive.
    public let name: String
    /// The absolute path on the device, such as `/fonts/teko.bin`.
    public let path: String
    /// The content, one byte or more.
    public let bytes: [UInt8]

    /// Creates a file in memory.
    public init(name: String, path: String, bytes: [UInt8]) {
      (self.name, self.path, self.bytes) = (name, path, bytes)
    }
  }

  /// A file that the device no longer needs.
  public struct ObsoleteFile: Equatable, Sendable {
    /// The absolute path on the device.
    public let path: String
    /// The first firmware version that does not need the file; `nil` = all versions.
    public let since: FirmwareVersion?

    /// Creates an entry in memory.
    public init(path: String, since: FirmwareVersion? = nil) {
      (self.path, self.since) = (path, since)
    }
  }

  /// The name of the list in the archive.
  static let listName = "resources.json"
  /// The maximum length of a name on the device in bytes (InfiniTime, `FS.cpp`, `name_max`).
  static let nameMaximum = 50
  /// The maximum length of a path in bytes. A request that moves a file contains two paths, and
  /// must fit into one write at the ATT_MTU of the watch.
  static let pathMaximum = 160

  /// The package's last path component, or `-` for standard input.
  public let name: String
  /// The files in the order of the list; at least one.
  public let files: [File]
  /// The obsolete files in the order of the list.
  public let obsoleteFiles: [ObsoleteFile]

  /// Creates a package in memory.
  public init(name: String, files: [File], obsoleteFiles: [ObsoleteFile] = []) {
    (self.name, self.files, self.obsoleteFiles) = (name, files, obsoleteFiles)
  }

  /// The sum of the sizes of all files in bytes.
  public var size: Int { files.reduce(0) { $0 + $1.bytes.count } }
}

extension ResourcePackage {
  /// Reads the list of an archive, and the files that it names.
  init(name: String, _ archive: ZipArchive) throws(ResourceFault) {
    guard let text = archive[Self.listName] else { throw .listMissing }
    let list: ManifestValue
    do throws(ManifestFault) { list = try ManifestReader.read(text) } catch {
      throw ResourceFault(error)
    }
    guard case .array(let entries) = list["resources"], !entries.isEmpty else {
      throw .key(path: "resources", wanted: "a list of files")
    }
    var paths: Set<String> = []
    var files: [File] = []
    for (index, entry) in entries.enumerated() {
      let key = "resources[\(index)]"
      guard let name = entry["filename"]?.text else {
        throw .key(path: key + ".filename", wanted: "a file name")
      }
      let path = try Self.path(entry["path"], of: key)
      guard paths.insert(path).inserted else { throw .pathRepeated(path) }
      guard let bytes = archive[name] else { throw .fileMissing(name) }
      guard !bytes.isEmpty else { throw .fileEmpty(name) }
      files.append(File(name: name, path: path, bytes: bytes))
    }
    for path in paths {
      if let folder = paths.first(where: { path.hasPrefix($0 + "/") }) {
        throw .pathRepeated(folder)
      }
    }
    let obsolete = try Self.obsoleteFiles(in: list["obsolete_files"], keeping: paths)
    self.init(name: name, files: files, obsoleteFiles: obsolete)
  }

  /// Returns the obsolete files. A list without such files may contain an empty object in place of
  /// the array (InfiniTime, `generate-package.py`).
  private static func obsoleteFiles(
    in value: ManifestValue?, keeping paths: Set<String>
  ) throws(ResourceFault) -> [ObsoleteFile] {
    switch value {
    case nil, .null, .object([:]): return []
    case .array(let entries):
      var obsolete: [ObsoleteFile] = []
      for (index, entry) in entries.enumerated() {
        let key = "obsolete_files[\(index)]"
        let path = try Self.path(entry["path"], of: key)
        guard !paths.contains(path) else { throw .pathRepeated(path) }
        let since = try entry["since"].map { value throws(ResourceFault) in
          guard let version = value.text.flatMap(FirmwareVersion.init) else {
            throw .key(path: key + ".since", wanted: "a version such as 1.11.0")
          }
          return version
        }
        obsolete.append(ObsoleteFile(path: path, since: since))
      }
      return obsolete
    default: throw .key(path: "obsolete_files", wanted: "a list of files")
    }
  }

  private static func path(
    _ value: ManifestValue?, of key: String
  ) throws(ResourceFault) -> String {
    guard let path = value?.text else {
      throw .key(path: key + ".path", wanted: "a path on the device")
    }
    guard path.utf8.count <= pathMaximum, isPlain(path) else { throw .pathNotAllowed(path) }
    return path
  }

  /// Returns whether a path is absolute and consists of plain names that the device can store.
  private static func isPlain(_ path: String) -> Bool {
    guard path.hasPrefix("/"),
      !path.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
    else { return false }
    return path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
      !$0.isEmpty && $0 != "." && $0 != ".." && $0.utf8.count <= nameMaximum
    }
  }
}
