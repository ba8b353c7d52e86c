import ArgumentParser
import OtaflashUpdate

/// `--protocol`: by default the protocol that the device offers and the image requires.
package struct ProtocolOption: ParsableArguments, Sendable {
  package enum Choice: Equatable, Sendable, CaseIterable, ExpressibleByArgument {
    case auto
    case only(UpdateProtocol)

    package static var allCases: [Choice] {
      [.auto] + UpdateProtocol.all.map { .only($0.updateProtocol) }
    }

    package init?(argument: String) {
      guard let choice = Self.allCases.first(where: { $0.text == argument }) else { return nil }
      self = choice
    }

    package static var allValueStrings: [String] { allCases.map(\.text) }

    package var defaultValueDescription: String { text }

    package var named: UpdateProtocol? {
      if case .only(let named) = self { named } else { nil }
    }

    private var text: String { named?.name ?? "auto" }
  }

  @Option(
    name: .customLong("protocol"),
    help: ArgumentHelp("The update protocol.", valueName: "protocol"))
  package var value = Choice.auto

  package init() {}
}
