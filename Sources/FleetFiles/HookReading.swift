#if Fleet
import OtaflashFleet
import Yams

/// `hooks:` of a campaign.
enum HookReading {
  static let keys =
    HookPoint.allCases.map(\.rawValue) + ["time-limit", "on-failure", "after-failure"]

  static func hooks(in node: Node?) throws(CampaignFileFault) -> CampaignHooks {
    var hooks = CampaignHooks()
    guard let node else { return hooks }
    let fields = try YAMLFields(node, of: "hooks", known: keys)
    for point in HookPoint.allCases {
      guard let node = fields[point.rawValue] else { continue }
      hooks.commands[point] = try command(node, point.rawValue)
    }
    guard !hooks.commands.isEmpty else {
      throw CampaignFileFault(at: fields.place, "the hooks name no command")
    }
    hooks.timeLimit = try fields.duration("time-limit") ?? hooks.timeLimit
    guard hooks.timeLimit > .zero else {
      throw CampaignFileFault(at: fields.place(of: "time-limit"), "a hook takes more than no time")
    }
    hooks.onFailure =
      try fields.choice("on-failure", CampaignHooks.BeforeFailure.self) ?? hooks.onFailure
    hooks.afterFailure =
      try fields.choice("after-failure", CampaignHooks.AfterFailure.self) ?? hooks.afterFailure
    return hooks
  }

  private static func command(
    _ node: Node, _ key: String
  ) throws(CampaignFileFault) -> HookCommand {
    let command: HookCommand
    switch node {
    case .sequence: command = .words(try node.texts(of: key))
    case .scalar: command = .shell(try node.text(of: key))
    case .mapping, .alias:
      throw CampaignFileFault(
        at: node.place, "\(key) is a list of words, or one text for /bin/sh")
    }
    guard !command.hasNull else {
      throw CampaignFileFault(at: node.place, "no command can hold the character U+0000")
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
