import OtaflashWire

/// The statistics group (Zephyr, `stat_mgmt.c`), with the server's own counters.
extension SMPServer {
  /// The counters of a server since its start.
  struct Counters: Sendable {
    var requests: UInt64 = 0
    var responses: UInt64 = 0
    /// The number of requests that found no buffer for their responses.
    var dropped: UInt64 = 0
    var fileBytes: UInt64 = 0
  }

  /// STAT_MGMT_RET_RC_INVALID_GROUP.
  private static let noSuchGroup = 2
  /// CONFIG_MCUMGR_GRP_STAT_MAX_NAME_LEN.
  private static let nameMaximum = 32
  private static let names = ["smp_svr", "fs"]

  func listStatistics() throws(SMPServerRefusal) -> Work {
    guard settings.hasStatistics, !isRecovery else { throw .general(.notSupported) }
    return Work(answer: .body(SMPStatistics.List.Response(names: Self.names).body))
  }

  func showStatistics(_ request: SMPStatistics.Show) throws(SMPServerRefusal) -> Work {
    guard settings.hasStatistics, !isRecovery else { throw .general(.notSupported) }
    guard 1..<Self.nameMaximum ~= request.name.utf8.count else { throw .general(.invalid) }
    let values: [(String, UInt64)]
    switch request.name {
    case "smp_svr":
      values = [
        ("requests", counters.requests), ("responses", counters.responses),
        ("dropped", counters.dropped),
      ]
    case "fs":
      values = [("files", UInt64(store.files.count)), ("bytes_written", counters.fileBytes)]
    default: throw .statistics(Self.noSuchGroup)
    }
    let found = values.map { SMPStatistics.Counter(name: $0.0, value: $0.1) }
    return Work(
      answer: .body(SMPStatistics.Show.Response(name: request.name, counters: found).body))
  }
}
