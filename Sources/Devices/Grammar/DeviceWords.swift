import ArgumentParser
import FoundationEssentials
import OtaflashState

/// Shell completions for a device: the fixed words and the aliases.
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
    (["last", "sim:"] + aliases(environment)).filter { $0.hasPrefix(prefix) }
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
