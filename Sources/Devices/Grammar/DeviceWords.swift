import ArgumentParser
import FoundationEssentials
import OtaflashState

/// Shell completions for a device: the fixed words, the aliases, and the devices of the registry,
/// which includes the last scan.
package enum DeviceWords {
  package static var completion: CompletionKind {
    .custom { _, _, prefix in
      words(beginning: prefix, environment: ProcessInfo.processInfo.environment)
    }
  }

  package static var completionOfAliases: CompletionKind {
    .custom { _, _, prefix in
      aliases(ProcessInfo.processInfo.environment).filter { $0.hasPrefix(prefix) }
    }
  }

  /// Returns the completions of a prefix. Unreadable aliases are not reported, because a shell
  /// shows no errors.
  package static func words(beginning prefix: String, environment: [String: String]) -> [String] {
    let words = ["last", "sim:"] + aliases(environment) + known(environment)
    return words.filter { $0.hasPrefix(prefix) }
  }

  /// Returns the ids of the known devices, the last connected first, and then the names. A name is
  /// included if, as a regular expression, it matches itself.
  private static func known(_ environment: [String: String]) -> [String] {
    do throws(StateFault) {
      let file = RegistryFile(in: try StateDirectory.locate(environment: environment))
      let records = try file.load().content?.records ?? []
      let names = records.compactMap(\.name).filter { name in
        name.wholeMatch(of: /[A-Za-z0-9_-]+/) != nil
      }
      return records.map(\.id) + names.map { "name:" + $0 }
    } catch {
      return []
    }
  }

  private static func aliases(_ environment: [String: String]) -> [String] {
    do throws(StateFault) {
      let file = AliasFile(in: try StateDirectory.locate(environment: environment))
      return try file.load().content?.all.map(\.alias.description) ?? []
    } catch {
      return []
    }
  }
}
