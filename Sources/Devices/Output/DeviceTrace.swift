import OtaflashConsole
import OtaflashUpdate

/// The update of one device, as events of `--json`.
package struct DeviceTrace: Sendable {
  package typealias Line = (type: String, members: [JSONValue.Member])

  private static let progressInterval = Duration.milliseconds(100)

  private struct OpenTask {
    let stage: UpdateStage
    let began: Duration
    var meter: RateMeter?
    var total = 0
    var startOffset = 0
    var lastTold: Duration?
  }

  private let device: String
  private var link: LinkReport?
  /// The last reported bottleneck.
  private var bottleneck: Bottleneck?
  /// Open tasks, the innermost last.
  private var tasks: [OpenTask] = []
  /// The direction of the transfer.
  private var transferStage = UpdateStage.upload

  package init(device: String) { self.device = device }

  package mutating func observe(_ event: UpdateEvent, at now: Duration) -> [Line] {
    switch event {
    case .connecting(let attempt):
      return [line("link", ["event": "connecting", "attempt": .integer(attempt)])]
    case .connected(let report):
      link = report
      let event = JSONValue.Member(name: "event", value: "connected")
      return [("link", [event] + report.members + [deviceMember])]
    case .device(let report):
      return [("device", report.members(id: device, link: link))]
    case .stageBegan(let stage):
      guard stage == .upload || stage == .download else {
        return begin(OpenTask(stage: stage, began: now), [])
      }
      transferStage = stage
      return []
    case .stageEnded(let stage, _):
      return end(stage, at: now)
    case .transferBegan(let offset, let total, let resumed):
      return transferBegan(offset, total, resumed, at: now)
    case .progress(let acknowledged, let total): return progress(acknowledged, total, at: now)
    case .part(let name, let number, let count):
      return [
        line(
          "part",
          ["name": .string(name), "number": .integer(number), "of": .integer(count)])
      ]
    case .creatingContent: return [line("flow", ["event": "making-patch"])]
    case .delivery(let report): return [("delivery", report.members + [deviceMember])]
    case .deliveryGivenUp(let obstacle):
      return endAll(ok: false, at: now) + [
        line(
          "flow",
          [
            "event": "patch-given-up", "reason": .string(obstacle.code),
            "message": .string(obstacle.clause),
          ])
      ]
    case .flowing(let stretch):
      bottleneck = Bottleneck(stretch)
      return []
    case .deviceBusy: return [line("flow", ["event": "busy"])]
    case .rewound(let offset, let reason):
      return [
        line(
          "flow",
          ["event": "rewound", "offset": .integer(offset), "reason": .string(reason.rawValue)])
      ]
    case .linkLost(let reason, let acknowledged, let attempt, let retry):
      return endAll(ok: false, at: now) + [
        line(
          "link",
          [
            "event": "lost", "reason": .string(reason), "offset": .integer(acknowledged),
            "attempt": .integer(attempt), "retry_in_ms": .integer(retry.inMilliseconds),
          ])
      ]
    case .restarted(let reason, let attempt, let retry):
      return endAll(ok: false, at: now) + [
        line(
          "link",
          [
            "event": "restarted", "reason": .string(reason), "attempt": .integer(attempt),
            "retry_in_ms": .integer(retry.inMilliseconds),
          ])
      ]
    case .finished: return endAll(ok: true, at: now)
    }
  }

  /// Closes open tasks, before an error or the result.
  package mutating func endAll(ok: Bool, at now: Duration) -> [Line] {
    var lines: [Line] = []
    while let task = tasks.popLast() { lines.append(end(task, ok: ok, at: now)) }
    return lines
  }

  /// Ends a stage, and the open tasks inside it.
  private mutating func end(_ stage: UpdateStage, at now: Duration) -> [Line] {
    guard tasks.contains(where: { $0.stage == stage }) else { return [] }
    var lines: [Line] = []
    while let task = tasks.popLast() {
      lines.append(end(task, ok: true, at: now))
      if task.stage == stage { break }
    }
    return lines
  }

  private mutating func end(_ task: OpenTask, ok: Bool, at now: Duration) -> Line {
    let bytes = task.meter.map { $0.acknowledged - task.startOffset }
    return line(
      "task_end",
      [
        "task": .string(task.stage.rawValue), "ok": .bool(ok), "bytes": .integer(bytes),
        "ms": .integer((now - task.began).inMilliseconds),
      ])
  }

  private mutating func begin(
    _ next: OpenTask, _ members: [JSONValue.Member]
  ) -> [Line] {
    tasks.append(next)
    let head = JSONValue.fields([
      "task": .string(next.stage.rawValue), "device": .string(device),
    ])
    return [("task_begin", head + members)]
  }

  private mutating func transferBegan(
    _ offset: Int, _ total: Int, _ resumed: Bool, at now: Duration
  ) -> [Line] {
    bottleneck = nil
    let upload = OpenTask(
      stage: transferStage, began: now, meter: RateMeter(offset: offset, at: now), total: total,
      startOffset: offset, lastTold: now)
    return begin(
      upload,
      JSONValue.fields([
        "total": .integer(total), "offset": .integer(offset), "resumed": .bool(resumed),
      ]))
  }

  private mutating func progress(_ done: Int, _ total: Int, at now: Duration) -> [Line] {
    guard var task = tasks.last, var meter = task.meter else { return [] }
    meter.acknowledge(done, at: now)
    task.meter = meter
    let isDue = task.lastTold.map { now - $0 >= Self.progressInterval } ?? true
    if isDue || done == total { task.lastTold = now }
    tasks[tasks.count - 1] = task
    guard isDue || done == total else { return [] }
    return [
      line(
        "task_progress",
        [
          "task": .string(task.stage.rawValue), "done": .integer(done), "total": .integer(total),
          "rate_bytes_per_second": meter.rate(at: now).map { .integer(Int($0)) },
          "eta_ms": meter.remaining(of: total).map { .integer($0.inMilliseconds) },
          "bottleneck": bottleneck.map { .string($0.rawValue) },
        ])
    ]
  }

  private var deviceMember: JSONValue.Member {
    JSONValue.Member(name: "device", value: .string(device))
  }

  private func line(_ type: String, _ members: KeyValuePairs<String, JSONValue?>) -> Line {
    (type, JSONValue.fields(members) + [deviceMember])
  }
}
