import OtaflashUpdate

/// The machine's view of a run: JSON Lines, schema version 1 (docs/events.schema.json).
struct JSONLines: Sendable {
  static let schemaVersion = 1
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
  private var next = 0
  private var link: LinkReport?
  /// Tasks under way, the innermost last.
  private var tasks: [OpenTask] = []
  private(set) var ended = false

  init(device: String) { self.device = device }

  /// One line without its line break. Nothing may follow a `result`.
  mutating func line(_ type: String, _ members: [JSONValue.Member]) -> String {
    precondition(!ended, "an event after the result")
    let head = JSONValue.fields([
      "v": .integer(Self.schemaVersion), "seq": .integer(next), "type": .string(type),
    ])
    next += 1
    ended = type == "result"
    return JSONValue.object(head + members).text
  }

  mutating func line(_ type: String, _ members: KeyValuePairs<String, JSONValue?>) -> String {
    line(type, JSONValue.fields(members))
  }

  mutating func observe(_ event: UpdateEvent, at now: Duration) -> [String] {
    switch event {
    case .connecting(let attempt):
      return [line("link", ["event": "connecting", "attempt": .integer(attempt)])]
    case .connected(let report):
      link = report
      return [line("link", [JSONValue.Member(name: "event", value: "connected")] + report.members)]
    case .device(let report):
      return [line("device", report.members(id: device, link: link))]
    case .stageBegan(let stage):
      return stage == .upload ? [] : begin(OpenTask(stage: stage, began: now), [])
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

  /// Closes what is open, before an error or the result.
  mutating func endAll(ok: Bool, at now: Duration) -> [String] {
    var lines: [String] = []
    while let task = tasks.popLast() { lines.append(end(task, ok: ok, at: now)) }
    return lines
  }

  /// Ends a stage, and what began inside it and did not end.
  private mutating func end(_ stage: UpdateStage, at now: Duration) -> [String] {
    guard tasks.contains(where: { $0.stage == stage }) else { return [] }
    var lines: [String] = []
    while let task = tasks.popLast() {
      lines.append(end(task, ok: true, at: now))
      if task.stage == stage { break }
    }
    return lines
  }

  private mutating func end(_ task: OpenTask, ok: Bool, at now: Duration) -> String {
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
  ) -> [String] {
    tasks.append(next)
    let head = JSONValue.fields([
      "task": .string(next.stage.rawValue), "device": .string(device),
    ])
    return [line("task_begin", head + members)]
  }

  private mutating func transferBegan(
    _ offset: Int, _ total: Int, _ resumed: Bool, at now: Duration
  ) -> [String] {
    let upload = OpenTask(
      stage: .upload, began: now, meter: RateMeter(offset: offset, at: now), total: total,
      startOffset: offset, lastTold: now)
    return begin(
      upload,
      JSONValue.fields([
        "total": .integer(total), "offset": .integer(offset), "resumed": .bool(resumed),
      ]))
  }

  private mutating func progress(_ done: Int, _ total: Int, at now: Duration) -> [String] {
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
          "task": "upload", "done": .integer(done), "total": .integer(total),
          "rate_bytes_per_second": meter.rate(at: now).map { .integer(Int($0)) },
          "eta_ms": meter.remaining(of: total).map { .integer($0.inMilliseconds) },
        ])
    ]
  }
}

extension LinkReport {
  /// As reports have it.
  var intervalMilliseconds: Double? { connectionInterval.map { $0 / .milliseconds(1) } }
  var supervisionMilliseconds: Int? { supervisionTimeout?.inMilliseconds }

  var members: [JSONValue.Member] {
    JSONValue.fields([
      "mtu": .integer(mtu), "phy": .text(phy?.rawValue),
      "interval_ms": intervalMilliseconds.map { .number($0) },
      "ll_payload": .integer(linkLayerPayload), "latency": .integer(peripheralLatency),
      "supervision_ms": .integer(supervisionMilliseconds),
    ])
  }
}

extension DeviceReport {
  func members(id: String, link: LinkReport?) -> [JSONValue.Member] {
    JSONValue.fields([
      "id": .string(id), "protocol": .string(updateProtocol.name),
      "protocol_version": .integer(protocolVersion), "hardware": .text(hardware),
      "running": .text(runningVersion), "running_build": .integer(runningBuild.map { Int($0) }),
      "running_crc32": runningCRC32.map { .string(Text.hex($0)) },
      "slot_size": .integer(slotSize), "page_size": .integer(pageSize),
      "largest_chunk": .integer(largestChunk), "buffer_size": .integer(bufferSize),
      "needs_authorization": .bool(needsAuthorization),
      "last_boot": lastBoot.map { .string($0.rawValue) }, "on_trial": .bool(isOnTrial),
      "buffer_count": .integer(bufferCount),
      "boot_loader": bootLoaderMode.map { .string($0.name) },
      "resume_offset": .integer(resumePoint?.offset), "link": link.map { .object($0.members) },
    ])
  }
}
