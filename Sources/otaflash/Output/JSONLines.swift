import OtaflashUpdate

/// The machine's view of a run: JSON Lines, schema version 1 (docs/events.schema.json).
struct JSONLines: Sendable {
  static let schemaVersion = 1

  private var next = 0
  /// By device, in the order in which they were first told of.
  private var traces: [DeviceTrace] = []
  private var places: [String: Int] = [:]
  private(set) var ended = false

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

  mutating func observe(
    _ event: UpdateEvent, of device: String, at now: Duration
  ) -> [String] {
    let place = places[device] ?? traces.count
    if place == traces.count {
      places[device] = place
      traces.append(DeviceTrace(device: device))
    }
    return traces[place].observe(event, at: now).map { line($0.type, $0.members) }
  }

  /// Closes what is open of a device, before its end.
  mutating func end(_ device: String, ok: Bool, at now: Duration) -> [String] {
    guard let place = places[device] else { return [] }
    return traces[place].endAll(ok: ok, at: now).map { line($0.type, $0.members) }
  }

  /// Closes all that is open, before an error or the result.
  mutating func endAll(ok: Bool, at now: Duration) -> [String] {
    traces.indices.flatMap { place in
      traces[place].endAll(ok: ok, at: now).map { line($0.type, $0.members) }
    }
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
  /// Bytes of the image in one write, at most.
  var largestChunk: Int? { otaService?.largestChunk ?? secureDFU?.largestPacket }

  func members(id: String, link: LinkReport?) -> [JSONValue.Member] {
    JSONValue.fields([
      "id": .string(id), "protocol": .string(updateProtocol.name),
      "protocol_version": .integer(protocolVersion), "hardware": .text(hardware),
      "running": .text(runningVersion), "running_build": .integer(runningBuild.map { Int($0) }),
      "running_crc32": runningCRC32.map { .string(Text.hex($0)) },
      "slot_size": .integer(slotSize), "page_size": .integer(otaService?.pageSize),
      "largest_chunk": .integer(largestChunk), "buffer_size": .integer(bufferSize),
      "needs_authorization": .bool(needsAuthorization),
      "takes_patches": takesPatches ? .bool(true) : nil,
      "last_boot": (otaService?.lastBoot).map { .string($0.rawValue) },
      "on_trial": .bool(isOnTrial),
      "buffer_count": .integer(smp?.bufferCount),
      "boot_loader": (smp?.bootloaderMode).map { .string($0.name) },
      "resume_offset": .integer(otaService?.resumePoint?.offset),
      "held_stream": (otaService?.heldStream).map { held in
        .object(
          JSONValue.fields([
            "octets": .integer(held.stream.size), "crc32": .string(Text.hex(held.stream.crc32)),
            "offset": .integer(held.offset),
          ]))
      },
      "link": link.map { .object($0.members) },
    ])
  }
}
