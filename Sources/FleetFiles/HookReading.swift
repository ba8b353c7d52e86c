#if Fleet
import OtaflashFleet
import Yams

/// The reader of `hooks:` in a campaign.
enum HookReading {
  static let keys =
    HookPoint.allCases.map(\.rawValue) + ["time-limit", "on-failure", "after-failure"]

  static func hooks(in campaign: YAMLFields) -> CampaignHooks {
    var hooks = CampaignHooks()
    guard let fields = campaign.fields("hooks", of: "hooks", known: keys) else { return hooks }
    for point in HookPoint.allCases {
      guard let node = fields[point.rawValue] else { continue }
      hooks.commands[point] = fields.mistakes.attempt { () throws(CampaignFileFault) in
        try command(node, point.rawValue)
      }
    }
    if fields.isComplete, HookPoint.allCases.allSatisfy({ fields[$0.rawValue] == nil }) {
      fields.mistakes.note(at: fields.place, "the hooks contain no command")
    }
    hooks.timeLimit = fields.duration("time-limit") ?? hooks.timeLimit
    if hooks.timeLimit <= .zero {
      fields.mistakes.note(at: fields.place(of: "time-limit"), "the time limit must be above 0")
    }
    hooks.onFailure =
      fields.choice("on-failure", CampaignHooks.BeforeFailure.self) ?? hooks.onFailure
    hooks.afterFailure =
      fields.choice("after-failure", CampaignHooks.AfterFailure.self) ?? hooks.afterFailure
    return hooks
  }

  private static func command(
    _ node: Node, _ key: String
  ) throws(CampaignFileFault) -> HookCommand {
    let command: HookCommand
    switch node {
    case .sequence: command = .words(try node.texts(of: key))
    case .scalar(let scalar):
      let text = try node.text(of: key)
      guard scalar.style != .plain || Double(text) == nil else {
        throw CampaignFileFault(
          at: node.place, "\(key) must be a command, not the number \(text)")
      }
      command = .shell(text)
    case .mapping, .alias:
      throw CampaignFileFault(
        at: node.place, "\(key) must be a list of words, or a string for /bin/sh")
    }
    guard !command.hasNull else {
      throw CampaignFileFault(at: node.place, "a command cannot contain the character U+0000")
    }
    return command
  }
}

extension HookCommand {
  fileprivate var hasNull: Bool {
    switch self {
    case .words(let words): words.contains { $0.utf8.contains(0) }
    case .shell(let text): text.utf8.contains(0)
    }
  }
}
#endif
