import ArgumentParser
import OtaflashUpdate

/// `--protocol`: by default what the device offers and the image needs.
struct ProtocolOption: ParsableArguments, Sendable {
  enum Choice: Equatable, Sendable, CaseIterable, ExpressibleByArgument {
    case auto
    case only(UpdateProtocol)

    static var allCases: [Choice] { [.auto] + UpdateProtocol.all.map { .only($0.updateProtocol) } }

    init?(argument: String) {
      guard let choice = Self.allCases.first(where: { $0.text == argument }) else { return nil }
      self = choice
    }

    static var allValueStrings: [String] { allCases.map(\.text) }

    var defaultValueDescription: String { text }

    var named: UpdateProtocol? {
      if case .only(let named) = self { named } else { nil }
    }

    private var text: String { named?.name ?? "auto" }
  }

  @Option(
    name: .customLong("protocol"),
    help: ArgumentHelp("The update protocol.", valueName: "protocol"))
  var value = Choice.auto
}
