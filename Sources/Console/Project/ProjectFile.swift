import COtaflashTOML
import Glibc

/// The project file `otaflash.toml`: default values of options for the commands that run in its
/// folder or below it. It contains the paths of key files, never the keys themselves.
package struct ProjectFile: Equatable, Sendable {
  package static let name = "otaflash.toml"
  /// The maximum size in bytes.
  private static let sizeLimit = 64 << 10

  /// A value of the file.
  package struct Entry: Equatable, Sendable {
    package let key: String
    package let value: String
    /// The line in the file, from 1.
    package let line: Int
    /// The profile that contains the value; `nil` = the value applies without a profile.
    package let profile: String?
  }

  /// A fault of the file.
  package enum Fault: Error, Equatable {
    case unreadable(FileFault)
    /// The file belongs to another user, who could change the options of this user's commands.
    case foreignOwner(path: String)
    case malformed(FilePassage)
    case noSuchProfile(String, path: String, known: [String])
    /// A profile was requested, but there is no project file.
    case noFile(profile: String)
  }

  package let path: String
  package let entries: [Entry]
  /// The names of all profiles that contain a value.
  package let profiles: [String]

  /// Returns the values that apply with a profile, in the order of `ProjectKey`; a value of the
  /// profile replaces a value outside of profiles.
  package func settings(profile: String?) throws(Fault) -> [Entry] {
    if let profile, !profiles.contains(profile) {
      throw .noSuchProfile(profile, path: path, known: profiles)
    }
    return ProjectKey.allCases.compactMap { key in
      let named = entries.filter { $0.key == key.rawValue }
      return named.first { $0.profile != nil && $0.profile == profile }
        ?? named.first { $0.profile == nil }
    }
  }

  /// The folder of the file, against which its paths are resolved.
  package var folder: String { String(path.dropLast(Self.name.count + 1)) }

  // MARK: Reading

  /// Returns the closest file, from a folder upwards; `nil` if no folder contains one.
  package static func find(from folder: String) throws(Fault) -> ProjectFile? {
    var folder = folder
    while true {
      let path = folder == "/" ? "/" + name : folder + "/" + name
      var status = stat()
      if stat(path, &status) == 0 { return try read(path) }
      guard folder != "/", let slash = folder.lastIndex(of: "/") else { return nil }
      folder = slash == folder.startIndex ? "/" : String(folder[..<slash])
    }
  }

  /// The working directory of this process; `nil` if it was removed.
  package static var workingFolder: String? {
    guard let path = getcwd(nil, 0) else { return nil }
    defer { free(path) }
    return String(cString: path)
  }

  /// Returns the file for the working directory of this process; `nil` if there is no file.
  package static func current() throws(Fault) -> ProjectFile? {
    guard let folder = workingFolder else { return nil }
    return try find(from: folder)
  }

  private static func read(_ path: String) throws(Fault) -> ProjectFile {
    var owner = uid_t(0)
    let content: [UInt8]
    do throws(FileFault) {
      content = try InputFile(path: path, limit: sizeLimit).read({ $0 }) {
        (status: stat) throws(FileFault) in owner = status.st_uid
      }
    } catch {
      throw .unreadable(error)
    }
    guard owner == geteuid() || owner == 0 || geteuid() == 0 else {
      throw .foreignOwner(path: path)
    }
    guard content.count <= sizeLimit else {
      throw .unreadable(.unreadable(path: path, errno: EFBIG))
    }
    return try ProjectFile(path: path, decoding: content)
  }

  /// - Throws: `.malformed` at the first key or value that is not allowed.
  package init(path: String, decoding content: [UInt8]) throws(Fault) {
    self.path = path
    let lines = String(decoding: content, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    func passage(_ line: Int, _ column: Int, _ words: String) -> Fault {
      .malformed(
        FilePassage(
          path: path, line: line, column: column, words: words,
          source: lines.indices.contains(line - 1) ? lines[line - 1] : nil))
    }
    let values: [TOMLValue]
    do throws(TOMLFault) { values = try TOMLValue.read(content) } catch {
      throw passage(error.line, error.column, error.message)
    }
    var (entries, profiles) = ([Entry](), [String]())
    for value in values {
      let profile: String?
      switch value.table {
      case []: profile = nil
      case let table where table.count == 2 && table[0] == "profiles": profile = table[1]
      case let table:
        throw passage(
          value.tableLine, 1,
          "[\(table.joined(separator: "."))] is not a table of this file; write [profiles.NAME]")
      }
      guard let key = ProjectKey(rawValue: value.key) else {
        let known = ProjectKey.allCases.map(\.rawValue)
        let hint = Suggestion.nearest(to: value.key, among: known).map { "; did you mean '\($0)'?" }
        throw passage(
          value.line, value.column, "'\(value.key)' is not a key of this file" + (hint ?? ""))
      }
      guard let text = value.text, !text.isEmpty else {
        throw passage(value.line, value.column, "'\(value.key)' requires one value")
      }
      if let profile, !profiles.contains(profile) { profiles.append(profile) }
      entries.append(
        Entry(
          key: key.rawValue, value: key.isPath ? Self.resolved(text, path) : text,
          line: value.line, profile: profile))
    }
    (self.entries, self.profiles) = (entries, profiles)
  }

  /// Returns a path in the file, resolved against the folder of the file.
  private static func resolved(_ value: String, _ path: String) -> String {
    value.hasPrefix("/") ? value : path.dropLast(name.count) + value
  }
}
