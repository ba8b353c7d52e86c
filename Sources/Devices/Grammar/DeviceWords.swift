import ArgumentParser
import FoundationEssentials
import OtaflashState

/// What a shell completes where a device is named: what stands for one by itself, and the aliases.
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

  /// Nothing is told of aliases that cannot be read: a shell shows no errors.
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
