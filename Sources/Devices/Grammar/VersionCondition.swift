import ArgumentParser
import OtaflashFirmware

/// A list of conditions; a version must meet all of them: `<1.4.0`, `>=1.2.0,<1.4.0`, `1.3.0`.
package struct VersionCondition: Sendable {
  private enum Relation: String, CaseIterable {
    // An operator precedes shorter operators that are its prefixes.
    case lessOrEqual = "<="
    case greaterOrEqual = ">="
    case different = "!="
    case less = "<"
    case greater = ">"
    case equal = "="
  }

  private let parts: [(relation: Relation, version: FirmwareVersion)]

  package static func parse(_ text: String) throws -> VersionCondition {
    VersionCondition(
      parts: try text.split(separator: ",", omittingEmptySubsequences: false).map {
        try part(String($0))
      })
  }

  private static func part(_ text: String) throws -> (Relation, FirmwareVersion) {
    let relation = Relation.allCases.first { text.hasPrefix($0.rawValue) }
    let rest = text.dropFirst(relation?.rawValue.count ?? 0)
    guard let version = FirmwareVersion(String(rest)) else {
      throw ValidationError(
        "'\(text)' is not a version condition; write 1.3.0, '<1.4.0' or '>=1.2.0,<1.4.0'")
    }
    return (relation ?? .equal, version)
  }

  package func holds(for version: FirmwareVersion) -> Bool {
    parts.allSatisfy { part in
      switch part.relation {
      case .lessOrEqual: version <= part.version
      case .greaterOrEqual: version >= part.version
      case .different: version != part.version
      case .less: version < part.version
      case .greater: version > part.version
      case .equal: version == part.version
      }
    }
  }
}
