import ArgumentParser
import OtaflashConsole
import OtaflashDevices

/// The settings of the project file and of the environment.
struct Config: GroupCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Show the settings of the project file.",
    subcommands: [ConfigShow.self])

  @OptionGroup var global: GlobalOptions
}

struct ConfigShow: Subcommand {
  static let words = "config show"
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show the values of options that apply here, and their sources.",
    discussion: """
      The file otaflash.toml in the working directory, or in the closest folder above it, contains \
      values for options of the commands that use a device. Options on the command line take \
      precedence over environment variables, and these over the file. Without a value, an option \
      has its default.
      """)

  @OptionGroup var project: ProfileOption
  @OptionGroup var global: GlobalOptions

  private struct Setting {
    let name: String
    let value: String
    let source: String
    let members: [JSONValue.Member]
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let console = session.console
    let settings = try settings(in: session.environment)
    guard !settings.isEmpty else {
      console.note("no \(ProjectFile.name) here or above, and no variable OTAFLASH_… is set")
      return .done("listed")
    }
    for setting in settings { console.event("setting", setting.members) }
    let rows = settings.map { [$0.name, $0.value, $0.source] }
    for line in Text.table([["NAME", "VALUE", "SOURCE"]] + rows) { console.result(line) }
    return .done("listed")
  }

  private func settings(in environment: [String: String]) throws(CommandFault) -> [Setting] {
    let entries: [Setting]
    do throws(ProjectFile.Fault) {
      guard let file = try ProjectFile.current() else {
        return Self.variables(environment)
      }
      let profile = project.profile ?? environment[EnvironmentOptions.variable("profile")]
      entries = try file.settings(profile: profile).map { Self.setting($0, of: file) }
    } catch {
      throw .project(error)
    }
    let variables = Self.variables(environment)
    let names = Set(variables.map(\.name))
    return (variables + entries.filter { !names.contains($0.name) }).sorted { $0.name < $1.name }
  }

  private static func setting(_ entry: ProjectFile.Entry, of file: ProjectFile) -> Setting {
    let profile = entry.profile.map { ", profile \($0)" } ?? ""
    return Setting(
      name: entry.key, value: entry.value, source: "\(file.path), line \(entry.line)\(profile)",
      members: JSONValue.fields([
        "name": .string(entry.key), "value": .string(entry.value), "source": .string("file"),
        "file": .string(file.path), "line": .integer(entry.line),
        "profile": entry.profile.map { .string($0) },
      ]))
  }

  private static func variables(_ environment: [String: String]) -> [Setting] {
    environment.filter { $0.key.hasPrefix(EnvironmentOptions.prefix) && !$0.value.isEmpty }
      .map { variable, value in
        let name = variable.dropFirst(EnvironmentOptions.prefix.count).lowercased()
          .map { $0 == "_" ? "-" : String($0) }.joined()
        return Setting(
          name: name, value: value, source: variable,
          members: JSONValue.fields([
            "name": .string(name), "value": .string(value), "source": .string("environment"),
            "variable": .string(variable),
          ]))
      }.sorted { $0.name < $1.name }
  }
}
